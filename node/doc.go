// Package node runs handlers: one Node is one running member of a namespace.
//
//	n := node.New(pool, node.Config{Namespace: "shop"})
//	node.OnT(n, OrderPlaced, count)          // in a transaction, which is where to begin
//	node.OnBatchT(n, PageViewed, store)      // many events in one
//	node.OnLeasedT(n, UserCreated, sendMail) // without a transaction, for calls to the outside
//	err := n.Run(ctx)
//
// A node registers, sends heartbeats, claims what its handlers take, runs them and settles what came out. How is the business
// of package consume; what a handler may count on is written at [Node.On] and [Node.OnLeased]. The node opens a few connections
// of its own, so that handlers can't starve claims, renewals and heartbeats; the pool it is given serves the transactions of
// handlers.
//
// Handlers may be added and removed while the node runs, see [Node.Apply]. What runs them is a runner for each kind, so a change makes new runners
// for the kinds that it is about, and lets the old ones end what they have in hand:
//
//	           Apply                       all in hand is settled
//	runs ───────────────────▶ finishes ───────────────────────────▶ ended
//	  │                           │                                    ▲
//	  └─────── the node drains ───┴──▶ stops, within Grace ─────────────┘
//
// Nothing ends because the database is away: Run waits for it. Upkeep (promotion of delayed events, the tick that pg_cron may
// also drive) is done by every node and needs no leader.
package node
