// Package consume holds the engine that runs handlers on one item at a time: it claims items from a source under a lease, runs handlers on
// them, renews the leases while handlers run, and settles what came out.
//
// # Parts
//
// A [Source] knows where items are and speaks to the database: it claims, settles, extends and opens transactions that settle. Its items carry
// their own fence, which the loop never looks into.
//
// A [Loop] owns the flow between a source and a fixed number of workers. One or two claimers exchange with the database:
// everything settled since the last exchange goes along with the next claim, in one round trip. Items wait in a short local
// queue, whose length follows the speed of the handlers: fast ones are fed from memory, slow ones only get what a free
// worker starts at once, so that other nodes find the rest.
//
// Nothing is settled under the context of its handler, since that context may be what ended.
//
// # An attempt
//
//	          a worker takes it          its handlers return, the worker settles
//	waiting ───────────────────▶ running ──────────────────────────────────────▶ back
//	   │                            │
//	   │ no worker for a third      │ its handlers ignore the end of their context,
//	   │ of the lease, or draining  │ the monitor settles and the worker is stuck
//	   ▼                            ▼
//	released                     given up ──▶ the worker is free when they return
//
// The state is that of an [invoke.Call] and moves forward only. Whoever moves it out of running settles the item, so each is settled once.
//
// # Outages
//
// Nothing here ends because the database is away. Results are kept and sent again; the fence tells whether they still
// count. A handler whose lease could not be renewed is cancelled before the lease ends.
package consume
