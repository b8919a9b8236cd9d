package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/deadletter"
)

const (
	emitters = 4

	// patience bounds each wait for something that must happen.
	patience = 2 * time.Minute
)

// play schedules, emits, kills, mends and returns the counts. When it fails, the error ends with the last words of the nodes.
func (d *demo) play(ctx context.Context, all []webhook) (_ *counts, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var emitting sync.WaitGroup
	defer func() {
		cancel(nil)
		emitting.Wait()
		for len(d.nodes) > 0 {
			p := d.nodes[0]
			d.kill(p)
			if err != nil && !errors.Is(err, context.Canceled) {
				err = fmt.Errorf("%w\n%s said last:\n%s", err, p.name, p.said.bytes())
			}
		}
	}()

	if err := d.schedule(ctx); err != nil {
		return nil, err
	}
	if err := d.writeInvoices(ctx); err != nil {
		return nil, err
	}
	if err := d.receive(ctx); err != nil {
		return nil, err
	}
	if err := d.enqueueMoves(ctx); err != nil {
		return nil, err
	}
	if err := d.watchParcels(ctx); err != nil {
		return nil, err
	}
	victim, err := d.spawn("node-a")
	if err != nil {
		return nil, err
	}
	survivor, err := d.spawn("node-b")
	if err != nil {
		return nil, err
	}
	if err := d.wait(ctx, "two nodes to be alive", `select count(*) = 2 from core.node_status where alive and state = 'active'`); err != nil {
		return nil, err
	}
	d.tell("two node processes are alive: pids %d and %d", victim.cmd.Process.Pid, survivor.cmd.Process.Pid)

	if err := d.startOrders(ctx); err != nil {
		return nil, err
	}
	if err := d.deliverParcels(ctx); err != nil {
		return nil, err
	}
	began := time.Now()
	emitting.Go(func() {
		if err := emitAll(ctx, d.app, all, emitters); err != nil {
			cancel(fmt.Errorf("emit: %w", err))
		}
	})

	if err := d.wait(ctx, "half to be handled", `select count(*) >= $1 from demo.handled`, len(all)/2); err != nil {
		return nil, err
	}
	d.kill(victim)
	d.tell("half are handled, says the database: kill -9 %d", victim.cmd.Process.Pid)
	late, err := d.addAuditor(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.approveOrders(ctx); err != nil {
		return nil, err
	}

	emitting.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	d.tell("%d webhooks were emitted, each in a transaction with its business row, %.0f a second", len(all), float64(len(all))/time.Since(began).Seconds())

	if err := d.wait(ctx, "the poison to be buried", `select count(*) >= $1 from core.unresolved_dead_letters where event_type ^@ 'github.'`, len(poison)); err != nil {
		return nil, err
	}
	if err := d.mend(ctx); err != nil {
		return nil, err
	}
	if err := d.releaseMoves(ctx); err != nil {
		return nil, err
	}
	if err := d.mendParcel(ctx); err != nil {
		return nil, err
	}
	if err := d.askForParcels(ctx); err != nil {
		return nil, err
	}
	if err := d.awaitOrders(ctx); err != nil {
		return nil, err
	}
	if err := d.awaitSlots(ctx); err != nil {
		return nil, err
	}
	if err := d.awaitBooks(ctx); err != nil {
		return nil, err
	}
	// The queues decide when it is over, not the business tables: what Nexus believes done and the business does not have is
	// what the demo is there to find.
	if err := d.wait(ctx, "the queues to be empty", `select not exists (select from core.consumer_status c where c.namespace = $1 and c.backfill <> 'done')
		and (select sum(q.queue_length + q.delayed + q.parked) = 0 from core.queue_metrics q join core.consumer_status c using (queue_name) where c.namespace = $1)`,
		namespace); err != nil {
		return nil, err
	}
	d.tell("the queues are empty")
	d.tell("%s", d.receiver)
	for _, p := range []*process{survivor, late} {
		if err := d.stop(p); err != nil {
			return nil, err
		}
	}
	return d.count(ctx)
}

// counts are the last lines.
type counts struct {
	parcels *Parcels
	outlets *Outlets
	slots   *Slots
	result  *Result
}

func (d *demo) count(ctx context.Context) (*counts, error) {
	c := &counts{}
	var err error
	if c.result, err = count(ctx, d.owner); err != nil {
		return nil, err
	}
	if c.slots, err = countSlots(ctx, d.owner); err != nil {
		return nil, err
	}
	if c.outlets, err = countOutlets(ctx, d.owner, d.receiver, d.hasCron()); err != nil {
		return nil, err
	}
	c.parcels, err = countParcels(ctx, d.owner, d.carrier, d.answers)
	return c, err
}

// mend fixes the handler, replays the dead letter that it now can take and discards the other one.
func (d *demo) mend(ctx context.Context) error {
	if _, err := d.owner.Exec(ctx, `insert into demo.switches (name) values ('fixed')`); err != nil {
		return err
	}
	replayed, err := deadletter.Replay(ctx, d.owner, deadletter.Filter{Namespace: namespace, Reason: "error"}, nil)
	if err != nil {
		return err
	}
	var discarded deadletter.Result
	err = pgx.BeginFunc(ctx, d.owner, func(tx pgx.Tx) error {
		// The business gives it up in its own tables too, in the transaction that discards it.
		_, err := tx.Exec(ctx, `update demo.received r set given_up = true
			from core.unresolved_dead_letters l where l.event_uid = r.event_uid and l.reason = $1`, noPush)
		if err != nil {
			return err
		}
		discarded, err = deadletter.Discard(ctx, tx, deadletter.Filter{Namespace: namespace, Reason: noPush}, "sent by mistake")
		return err
	})
	if err != nil {
		return err
	}
	d.tell("%d dead letter replayed after the fix, %d discarded", replayed.Done, discarded.Done)
	return nil
}

// wait polls until sql is true.
func (d *demo) wait(ctx context.Context, what, sql string, args ...any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("waited %s for %s", patience, what))
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var holds bool
		err := d.owner.QueryRow(ctx, sql, args...).Scan(&holds)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("wait for %s: %w", what, err)
		case holds:
			return nil
		}
		if err := d.fallen(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}
