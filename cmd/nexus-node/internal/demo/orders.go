package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/workflow"
)

const (
	orders   = 6
	unsold   = 4 // the order that nobody wants to carry
	noRoute  = "no carrier goes there"
	byParcel = "parcel"
)

type order struct {
	ID int `json:"id"`
}

// orderFlow reserves, packs and labels, waits for an approval, rests, charges and ships. What was done for an order that can't be shipped is
// undone, the last first. Each step leaves a row of demo.order_steps.
func orderFlow(pool *pgxpool.Pool, node string) *workflow.Workflow[order, string] {
	type run = workflow.Run[order]
	const note = `insert into demo.order_steps (order_id, step, node) values ($1, $2, $3)`
	inTx := func(step string) func(context.Context, pgx.Tx, *run) (string, error) {
		return func(ctx context.Context, tx pgx.Tx, r *run) (string, error) {
			_, err := tx.Exec(ctx, note, r.Input.ID, step, node)
			return step, err
		}
	}
	alone := func(step string) func(context.Context, *run) (string, error) {
		return func(ctx context.Context, r *run) (string, error) {
			_, err := pool.Exec(ctx, note, r.Input.ID, step, node)
			return step, err
		}
	}
	w := workflow.New[order, string]("order")
	workflow.TxStep(w, "reserve", inTx("reserve")).CompensateTx(func(ctx context.Context, tx pgx.Tx, r *run, _ string) error {
		_, err := inTx("put back")(ctx, tx, r)
		return err
	})
	prepare := workflow.Parallel(w, "prepare")
	workflow.Step(prepare, "pack", alone("pack"))
	workflow.Step(prepare, "label", alone("label"))
	workflow.WaitForSignal[string](w, "approved", 0)
	workflow.Sleep(w, "rest", time.Second)
	workflow.Step(w, "charge", alone("charge")).Compensate(func(ctx context.Context, r *run, _ string) error {
		_, err := alone("refund")(ctx, r)
		return err
	})
	workflow.TxStep(w, "ship", func(ctx context.Context, tx pgx.Tx, r *run) (string, error) {
		if r.Input.ID == unsold {
			return "", nexus.Reject(noRoute)
		}
		return inTx("ship")(ctx, tx, r)
	})
	w.Returns(func(*run) (string, error) { return byParcel, nil })
	return w
}

// startOrders starts all runs in one transaction, once a node has registered the workflow.
func (d *demo) startOrders(ctx context.Context) error {
	flow := orderFlow(d.app, "")
	if err := d.wait(ctx, "a node to register the workflow", `select exists (select from core.workflow_definitions where namespace = $1 and workflow = 'order')`, namespace); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, d.app, func(tx pgx.Tx) error {
		for i := range orders {
			id, _, err := flow.Start(ctx, tx, namespace, order{ID: i + 1}, &workflow.StartOptions{IdempotencyKey: fmt.Sprintf("order-%d", i+1)})
			if err != nil {
				return err
			}
			d.orders = append(d.orders, id)
		}
		return nil
	})
}

// approveOrders is what all runs wait for.
func (d *demo) approveOrders(ctx context.Context) error {
	for _, id := range d.orders {
		if _, err := workflow.Signal(ctx, d.app, id, "approved", "ann"); err != nil {
			return err
		}
	}
	d.tell("%d orders were started as workflows, and are approved by a signal", len(d.orders))
	return nil
}

// awaitOrders waits for the ends, and checks what the steps left behind: what is in a transaction with its commit exactly once, the rest at
// least once, and what was done for the order that failed undone in reverse.
func (d *demo) awaitOrders(ctx context.Context) error {
	var failed uuid.UUID
	for i, id := range d.orders {
		if err := d.wait(ctx, fmt.Sprintf("order %d to end", i+1), `select finished_at is not null from core.workflow_runs where run_id = $1`, id); err != nil {
			return err
		}
		if i+1 == unsold {
			failed = id
		}
	}
	var right int
	if err := d.owner.QueryRow(ctx, `
		select count(*) from (
			select s.order_id, count(*) filter (where s.step = 'reserve') as reserved, count(*) filter (where s.step = 'ship') as shipped,
			       array_agg(distinct s.step) as steps,
			       max(s.step_id) filter (where s.step = 'charge') < min(s.step_id) filter (where s.step = 'refund')
			       and max(s.step_id) filter (where s.step = 'refund') < min(s.step_id) filter (where s.step = 'put back') as undone,
			       count(*) filter (where s.step = 'put back') as back
			  from demo.order_steps s group by s.order_id) o
		 join core.workflow_runs r on r.run_id = ($1::uuid[])[o.order_id]
		 where o.reserved = 1 and o.steps @> '{pack,label,charge}'
		   and case when o.order_id = $2 then r.status = 'failed' and o.shipped = 0 and o.undone and o.back = 1
		            else r.status = 'completed' and o.shipped = 1 and o.undone is null and r.result = to_jsonb($3::text) end`,
		d.orders, unsold, byParcel).Scan(&right); err != nil {
		return err
	}
	if right != orders {
		return fmt.Errorf("%w: %d of %d orders were handled as their workflow says", ErrWrong, right, orders)
	}
	d.tell("%d orders are shipped; for the one without a carrier what was done is undone, the last first", orders-1)
	return d.table(ctx, "core.workflow_tree of that order", `
		select repeat('  ', depth) || coalesce(key, workflow) as step, status, attempts, error ->> 'reason' as reason from core.workflow_tree('`+failed.String()+`')`)
}
