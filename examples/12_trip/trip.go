package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/workflow"
)

type (
	trip     struct{ Name string }
	approval struct{ By string }
	run      = workflow.Run[trip]
)

func newTrip(die bool) *workflow.Workflow[trip, string] {
	w := workflow.New[trip, string]("trip")
	w.Lease = 2 * time.Second // how long a run waits when its process has died

	seat := workflow.TxStep(w, "seat", func(ctx context.Context, tx pgx.Tx, r *run) (n int, err error) {
		err = tx.QueryRow(ctx, `update public.example_seats set name = $1
			where seat = (select min(seat) from public.example_seats where name is null) returning seat`, r.Input.Name).Scan(&n)
		return n, err
	})
	seat.CompensateTx(func(ctx context.Context, tx pgx.Tx, _ *run, n int) error {
		_, err := tx.Exec(ctx, "update public.example_seats set name = null where seat = $1", n)
		return err
	})

	stay := workflow.Parallel(w, "stay")
	hotel := workflow.Step(stay, "hotel", func(_ context.Context, r *run) (string, error) {
		if die {
			os.Exit(1)
		}
		return "room 7", nil // a hotel would be given r.IdempotencyKey()
	})
	hotel.Compensate(func(_ context.Context, _ *run, room string) error {
		fmt.Println("not needed any more:", room)
		return nil
	})
	car := workflow.Step(stay, "car", func(context.Context, *run) (string, error) { return "a small car", nil })

	approved := workflow.WaitForSignal[approval](w, "approved", 3*time.Second)
	charge := workflow.Step(w, "charge", func(_ context.Context, r *run) (string, error) {
		if approved.Result(r) == nil { // the time was over
			return "", nexus.Reject("nobody has approved it") // no other attempt; what was done is undone
		}
		return "approved by " + approved.Result(r).By, nil
	})
	w.Returns(func(r *run) (string, error) {
		return fmt.Sprintf("seat %d, %s, %s, %s", seat.Result(r), hotel.Result(r), car.Result(r), charge.Result(r)), nil
	})
	return w
}
