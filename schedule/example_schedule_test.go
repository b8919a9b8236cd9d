package schedule_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/schedule"
)

type Reminder struct{ Booking int }

const ReminderDue nexus.EventType[Reminder] = "reminder.due"

// The reminder is there if the booking is, and can be taken back until it is due.
func ExampleScheduleEventT() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()
	if _, err := pool.Exec(ctx, `create table bookings (id int primary key, reminder uuid)`); err != nil {
		panic(err)
	}

	arrival := time.Now().Add(72 * time.Hour)
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		id, err := schedule.ScheduleEventT(ctx, tx, "shop", ReminderDue, Reminder{Booking: 7}, arrival.Add(-24*time.Hour), nil)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `insert into bookings values (7, $1)`, id)
		return err
	})
	fmt.Println(err)

	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { // the guest cancels
		var id [16]byte
		if err := tx.QueryRow(ctx, `delete from bookings where id = 7 returning reminder`).Scan(&id); err != nil {
			return err
		}
		outcome, err := schedule.CancelScheduledEvent(ctx, tx, id)
		fmt.Println(outcome)
		return err
	})
	fmt.Println(err)
	// Output:
	// <nil>
	// cancelled
	// <nil>
}

// The tasks of a deployment as they are meant to be. A node does this when it is given them: see node.Add.
func ExampleDeclared_Apply() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()

	tasks := schedule.Declared{Owner: "billing", Tasks: []schedule.Task{
		schedule.TaskOf(ReminderDue, Reminder{Booking: 7}, schedule.Task{Namespace: "shop", Name: "remind", Cron: "0 9 * * 1-5", Zone: "Europe/Berlin"}),
	}}
	for range 2 {
		changes, err := tasks.Apply(ctx, pool, false)
		fmt.Println(changes, err)
	}
	// Output:
	// [{shop/remind create   0 9 * * 1-5}] <nil>
	// [] <nil>
}

// Expressions are judged without a database, in the words of SQL, so a test of yours can.
func ExampleCheck() {
	err := schedule.Check("0 25 * * *", "Europe/Berlin")
	e, _ := errors.AsType[*nexus.Error](err)
	fmt.Println(e.Message)
	fmt.Println(e.Hint)
	// Output:
	// cron expression "0 25 * * *": hour, position 3: 25 is not between 0 and 23
	// Use *, */N, or a comma list of V, V-V and V-V/N, where V is 0-23.
}

// Slots by the clocks of the zone: where they go forward and there is no half past two, it is half past three, once.
func ExampleNextRuns() {
	ctx := context.Background()
	pool, done := dbtest.Example() // a database with Nexus in it
	defer done()

	runs, err := schedule.NextRuns(ctx, pool, "30 2 * * *", "Europe/Berlin", time.Date(2026, 3, 27, 12, 0, 0, 0, time.UTC), 3)
	for _, at := range runs {
		fmt.Println(at.Format(time.RFC3339))
	}
	fmt.Println(err)
	// Output:
	// 2026-03-28T01:30:00Z
	// 2026-03-29T01:30:00Z
	// 2026-03-30T00:30:00Z
	// <nil>
}
