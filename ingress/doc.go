// Package ingress takes CloudEvents 1.0 by HTTP and emits them: one a request in structured or binary mode, many in JSON batches.
//
// A [Handler] is mounted where a program likes, behind its own TLS. It answers 202 once the events are committed, with their ids in the order of the request, all of them
// or none. Who sends an event again under the same source and id, as the specification has it, is answered as the first time and emits nothing.
//
// [Triggers] serves the triggers of kind http of a namespace: their handlers are called by the method and path that the table of triggers has at the time.
package ingress
