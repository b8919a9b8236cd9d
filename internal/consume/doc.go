// Package consume is the loop that every kind of consumer shares: claim items from a source under a lease, run handlers on
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
// An [Attempt]'s state decides who may settle it, the worker when the handler returns or the monitor when it never does.
// Each item is settled once, and never under the context of its handler, since that context may be what ended.
//
// # Looking for work
//
// Claims walk the queue by id from a floor that trails two seconds behind the last find (see floor): emitters whose
// transactions overlap commit out of order. A sweep by due time finds what lies below the floor: expired leases, due
// retries, late commits. When nothing comes the pauses double up to Config.Poll, and the loop asks emitters to wake it.
//
// # Outages
//
// Nothing here ends because the database is away. Results are kept and sent again; the fence tells whether they still
// count. A handler whose lease could not be renewed is cancelled before the lease ends.
package consume
