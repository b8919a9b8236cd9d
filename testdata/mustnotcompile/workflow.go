package mustnotcompile

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/workflow"
)

func workflows(ctx context.Context, tx pgx.Tx, ns nexus.Namespace) {
	// Controls: these are right.
	w := workflow.New[user, string]("w")
	s := workflow.Step(w, "a", func(context.Context, *workflow.Run[user]) (int, error) { return 1, nil })
	s.Compensate(func(context.Context, *workflow.Run[user], int) error { return nil })
	w.Start(ctx, tx, ns, user{}, nil)
	w.Returns(func(*workflow.Run[user]) (string, error) { return "", nil })

	// Another input, result or undo; a transaction where there is none, and none where there is one; a step in a workflow of another input.
	workflow.Step(w, "b", func(context.Context, *workflow.Run[order]) (int, error) { return 1, nil })         // want "order.* does not match"
	workflow.Step(w, "c", func(context.Context, pgx.Tx, *workflow.Run[user]) (int, error) { return 1, nil })  // want "does not match"
	workflow.TxStep(w, "d", func(context.Context, *workflow.Run[user]) (int, error) { return 1, nil })        // want "does not match"
	s.Compensate(func(context.Context, *workflow.Run[user], string) error { return nil })                     // want "cannot use func"
	s.CompensateTx(func(context.Context, *workflow.Run[user], int) error { return nil })                      // want "cannot use func"
	w.Returns(func(*workflow.Run[user]) (int, error) { return 1, nil })                                       // want "cannot use func"
	w.Start(ctx, tx, ns, order{}, nil)                                                                        // want "cannot use order.* as user"
	workflow.Child(w, "e", w, func(*workflow.Run[user]) (order, error) { return order{}, nil })               // want "order.* does not match"
	workflow.CompensateItem(s, func(context.Context, *workflow.Run[user], int, int) error { return nil })     // want "does not match"
	workflow.Step(workflow.Route(w, "f", nil), "g", func(context.Context, *workflow.Run[user]) (int, error) { // want "cannot infer|does not implement|does not match"
		return 1, nil
	})
	workflow.Sleep(time.Second, "h", w)                                            // want "does not match|does not implement|cannot"
	_ = s.Result(&workflow.Run[order]{})                                           // want "cannot use .*order.* as .*user"
	var _ string = s.Result(&workflow.Run[user]{})                                 // want "cannot use s.Result.* as string"
	workflow.Signal(ctx, tx, "01234567-0123-0123-0123-0123456789ab", "ok", user{}) // want "cannot use .* as uuid.UUID"
}
