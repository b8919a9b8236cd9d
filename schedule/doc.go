// Package schedule makes events happen later: once, at a time ([ScheduleEventT]), or again and again ([TaskOf], [Declared]).
//
// What fires is always an event, emitted as queue.Emitter would and handled like any other. Scheduling is part of the caller's
// transaction: the event will come if that commits. Each function is that of the same name in schema core.
package schedule
