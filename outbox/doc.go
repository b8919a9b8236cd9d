// Package outbox keeps messages in order, lane by lane.
//
// A message is put on a queue in the transaction that it belongs to: it is there if that commits, and was never there if it does not.
// Its key picks one of the queue's lanes. The messages of a lane are numbered without a gap and handled one after the other, by one
// node at a time; the lanes go on side by side.
//
//	outbox.RegisterQueue(ctx, pool, "shop", "payments", 8, nil)
//	outbox.Enqueue(ctx, tx, "shop", outbox.Message{Queue: "payments", Key: customer, Type: "application/json", Body: body})
//
//	n.Add(outbox.Handle("payments", func(ctx context.Context, tx pgx.Tx, m *outbox.Item) error { … }))
//
// # What goes on where a message fails
//
// The lane waits, since what comes behind may rest on it: for its next attempt, and when its attempts are used up, until it is a dead
// letter or somebody lets the lane go on. [nexus.Reject] makes a dead letter of it at once. The other lanes know nothing of it.
//
// # A lane and its processor
//
//	free ──▶ fetched: some messages, under a lease ──▶ handled ──▶ settled ──▶ the next ones, or free
//	                  │ the lease ends                  │ fails
//	                  ▼                                 ▼
//	             taken by another one: an attempt   retried later; of several, in smaller parts until it is known which
package outbox
