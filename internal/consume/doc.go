// Package consume holds the two engines that run the handlers of a consumer: they claim items from a source under a lease, run handlers on
// them, renew the leases while handlers run, and settle what came out.
//
// # Parts
//
// A [Source] knows where items are and speaks to the database: it claims, settles and extends. Its items carry their own
// fence, which the loop never looks into. [Deliveries] is the source of a consumer's queue.
//
// A [Loop] owns the flow between a source and a fixed number of workers. One or two claimers exchange with the database:
// everything settled since the last exchange goes along with the next claim, in one round trip. Items wait in a short local
// queue, whose length follows the speed of the handlers: fast ones are fed from memory, slow ones only get what a free
// worker starts at once, so that other nodes find the rest.
//
// [Batches] runs handlers whose items share a transaction.
//
// Nothing is settled under the context of its handler, since that context may be what ended.
//
// # An attempt
//
//	          a worker takes it          its handlers return, the worker settles
//	waiting ───────────────────▶ running ──────────────────────────────────────▶ returned
//	   │                            │
//	   │ no worker for a third      │ its handlers ignore the end of their context,
//	   │ of the lease, or draining  │ the monitor settles and the worker is stuck
//	   ▼                            ▼
//	released                     abandoned ──▶ the worker is free when they return
//
// The state moves forward only. Whoever moves it out of running settles the item, so each is settled once.
//
// # A batch
//
//	          ┌──────────── express ────────────┐         ┌────── under leases ──────┐
//	          │ lock ─▶ mark ─▶ run ─▶ commit   │         │ lease ─▶ run ─▶ commit   │
//	claim ───▶│   │       │      │      │       │         │           │      │       │
//	          └───┼───────┼──────┼──────┼───────┘         └───────────┼──────┼───────┘
//	              ▼       ▼      ▼      ▼                             ▼      ▼
//	              left: others find them at once          more than one: each alone
//	                   one failed as a whole: ──────────▶ one: settled as a failure
//
// What failed alone is undone by a savepoint and settled with the batch. What fails the batch as a whole is run again item by item, under
// leases, so that the attempts count.
//
// # Looking for work
//
// [feed.Feed] says when to claim, and keeps an engine alive through outages. A walk says where: by id from a floor that trails two seconds
// behind the last find (see floor), since emitters whose transactions overlap commit out of order. A sweep by due time finds what lies below
// the floor: expired leases, due retries, late commits.
//
// # Outages
//
// Nothing here ends because the database is away. Results are kept and sent again; the fence tells whether they still
// count. A handler whose lease could not be renewed is cancelled before the lease ends.
package consume
