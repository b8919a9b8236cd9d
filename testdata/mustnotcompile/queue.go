// Package mustnotcompile holds mistakes that the types are there to catch. Each line that is one says what the compiler
// answers; the test fails if it answers anything else, or nothing.
package mustnotcompile

import (
	"context"
	"database/sql"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/deadletter"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/schedule"
)

type user struct{ Email string }

type order struct{ ID string }

const userCreated nexus.EventType[user] = "user.created"

func emit(ctx context.Context, tx pgx.Tx, bus queue.Emitter, ns nexus.Namespace, eventType string) {
	// Controls: these are right.
	queue.EmitT(ctx, tx, bus, userCreated, user{}, nil)
	queue.EmissionOf(userCreated, user{}, nil)
	bus.Emit(ctx, tx, eventType, order{}, nil)

	queue.EmitT(ctx, tx, bus, userCreated, order{}, nil)    // want "order.* does not match"
	queue.EmissionOf(userCreated, order{}, nil)             // want "order.* does not match"
	bus.Emit(ctx, tx, userCreated, user{}, nil)             // want "cannot use userCreated .* as string"
	bus.Emit(ctx, tx, ns, user{}, nil)                      // want "cannot use ns .* as string"
	queue.CreateNamespace(ctx, tx, eventType, nil)          // want "cannot use eventType .* as nexus.Namespace"
	queue.DropNamespace(ctx, tx, ns, eventType, true)       // want "cannot use eventType .* as nexus.Namespace"
	bus.Emit(tx, ctx, eventType, user{}, nil)               // want "cannot use tx .* as context.Context" "cannot use ctx .* as nexus.DBTX"
	bus.EmitBatch(ctx, tx, queue.Emission{Type: eventType}) // want "cannot use queue.Emission.* as ..queue.Emission"
}

func handles(ctx context.Context, bus queue.Emitter, std *sql.Tx, d *nexus.DeliveryOf[user]) {
	bus.Emit(ctx, nexus.SQL(std), "user.created", nil, nil) // a control

	bus.Emit(ctx, std, "user.created", nil, nil) // want "cannot use std .* as nexus.DBTX"
	queue.Ack(ctx, nexus.SQL(std), d)            // want "cannot use d .* as .nexus.Delivery"
	var _ order = d.Payload                      // want "cannot use d.Payload .* as order"
}

func schedules(ctx context.Context, tx pgx.Tx, ns nexus.Namespace, at time.Time) {
	// Controls: these are right.
	schedule.ScheduleEventT(ctx, tx, ns, userCreated, user{}, at, nil)
	schedule.TaskOf(userCreated, user{}, schedule.Task{Name: "welcome", Cron: "@daily"})

	schedule.ScheduleEventT(ctx, tx, ns, userCreated, order{}, at, nil)                   // want "order.* does not match"
	schedule.TaskOf(userCreated, order{}, schedule.Task{Name: "welcome", Cron: "@daily"}) // want "order.* does not match"
	schedule.ScheduleEvent(ctx, tx, ns, userCreated, user{}, at, nil)                     // want "cannot use userCreated .* as string"
}

func verdicts() error {
	var v nexus.Verdict
	_ = nexus.Retry("1m")                                       // want "cannot use .1m. .* as .*Duration"
	_ = deadletter.Filter{Namespace: string(userCreated)}       // want "cannot use string.* as nexus.Namespace"
	_ = nexus.At(nexus.Delivery{}, nexus.Reject("no such sku")) // want "cannot use nexus.Delivery.* as .nexus.Delivery"
	return v                                                    // want "cannot use v .* as error"
}
