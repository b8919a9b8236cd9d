package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/queue"
)

// confirm counts an order and asks for a mail. The count, the new event and the acknowledgement of the old one commit together.
func confirm(ctx context.Context, tx pgx.Tx, d *nexus.DeliveryOf[Order]) error {
	o := d.Payload
	_, err := tx.Exec(ctx, `insert into customers values ($1, 1) on conflict (customer) do update set orders = customers.orders + 1`, o.Customer)
	if err != nil {
		return err
	}
	_, err = queue.EmitT(ctx, tx, bus, MailRequested, Mail{To: o.Customer, Body: fmt.Sprintf("Thank you for order %d.", o.ID)}, nil)
	return err
}

// report counts the orders that no report has counted yet, and mails the number.
func report(ctx context.Context, tx pgx.Tx, d *nexus.DeliveryOf[Report]) error {
	counted, err := tx.Exec(ctx, `update orders set reported = true where not reported`)
	if err != nil {
		return err
	}
	_, err = queue.EmitT(ctx, tx, bus, MailRequested, Mail{To: d.Payload.To, Body: fmt.Sprintf("New orders: %d.", counted.RowsAffected())}, nil)
	return err
}

// sender sends a mail. The key is the same when the mail comes again, after a crash for instance.
type sender func(ctx context.Context, m Mail, key string) error

// mail holds no connection while it sends. Then it takes one for a moment: the row and the acknowledgement commit together.
func mail(pool *pgxpool.Pool, send sender) func(context.Context, *nexus.DeliveryOf[Mail]) error {
	return func(ctx context.Context, d *nexus.DeliveryOf[Mail]) error {
		if err := send(ctx, d.Payload, d.IdempotencyKey()); err != nil {
			return err // tried again later; nexus.Reject means never
		}
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `insert into mails (event_uid, recipient, body, asked_at) values ($1, $2, $3, $4)`,
				d.UID, d.Payload.To, d.Payload.Body, d.EmittedAt)
			if err != nil {
				return err
			}
			return queue.Ack(ctx, tx, d.Delivery)
		})
	}
}
