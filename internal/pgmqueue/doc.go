// Package pgmqueue is the source of a consumer's queue, a queue of pgmq.
//
// # Looking for work
//
// An engine says when to claim, a walk says where: by id from a floor that trails two seconds behind the last find (see floor), since
// emitters whose transactions overlap commit out of order. A sweep by due time finds what lies below the floor: expired leases, due retries,
// late commits.
package pgmqueue
