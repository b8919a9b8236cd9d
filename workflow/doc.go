// Package workflow declares durable workflows, and has nodes run them.
//
// A workflow is a list of named steps. What a step returned is journaled in the database, so that a run goes on where it was, on any node that
// has the workflow, whatever process dies. When a step has failed for good, what was done before is undone in reverse.
//
//	flow := workflow.New[Order, string]("order")
//	reserve := workflow.TxStep(flow, "reserve", func(ctx context.Context, tx pgx.Tx, r *workflow.Run[Order]) (int64, error) { … })
//	reserve.CompensateTx(func(ctx context.Context, tx pgx.Tx, r *workflow.Run[Order], id int64) error { … })
//	approved := workflow.WaitForSignal[Approval](flow, "approved", 48*time.Hour)
//	charge := workflow.Step(flow, "charge", func(ctx context.Context, r *workflow.Run[Order]) (string, error) { … })
//	flow.Returns(func(r *workflow.Run[Order]) (string, error) { return charge.Result(r), nil })
//
//	n.Add(flow)
//	run, _, err := flow.Start(ctx, tx, "shop", order, nil)
//
// # What runs how often
//
// A [TxStep] writes in the transaction that journals its result: both are there, or neither is. A [Step] holds no transaction and no connection.
// It runs again if its process died, or lost its lease, before the result was journaled, with the same [Run.IdempotencyKey].
// A function that decides (the key of a [Route], the end of a [Loop], the items of a [Map], the time of a [SleepUntil]) is asked until its
// answer is journaled, and not again. What is between steps is not code of the user's, so there is nothing to be deterministic about.
//
// # How a step ends
//
//	returns a result ──────▶ journaled; the run goes on
//	returns an error ──────▶ again after a while, until its attempts are used up; then the run is undone
//	[nexus.Retry](d) ──────▶ again in d
//	[nexus.Reject](reason) ─▶ no more attempts
//	[nexus.Release](d) ────▶ again in d, and no attempt was used
//	[ContinueAsNew] ───────▶ the run ends, and a new one begins
//
// Panics are errors, also those of a result that is written as JSON. The results of a run have 128 MB together at most; a result that goes beyond fails its step. The death of a process is none: it is counted apart, and a step that its process dies of again and again is parked.
//
// # A runner
//
//	claims ──▶ a goroutine for each run or branch in hand ──▶ the next thing of it ──▶ committed, in groups
//	  ▲            │ one lease, renewed, for as long as it goes on    ▲                    │
//	  │            ▼                                                 └────────────────────┘
//	  └──── waits, is over, fails, or the node drains: no goroutine, no connection
//
// Leases and commits are fenced, so whoever lost a run can change nothing any more.
package workflow
