package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/nexuspg/nexus/queue"
)

const (
	ledger      = "ledger" // a namespace that no node ever serves
	invoiceType = "invoice.written"
	invoices    = 20
)

// writeInvoices emits what only pg_cron will handle, by a function in SQL. It comes before the first node, and before the full minute that
// the tasks are waited for with, in which pg_cron's job has its turn.
func (d *demo) writeInvoices(ctx context.Context) error {
	if !d.hasCron() {
		d.tell("this server has no pg_cron: no handler in SQL is shown, since it would have to run without a node")
		return nil
	}
	// A namespace of named consumers only: nobody would ever empty the queue of all events.
	if err := queue.CreateNamespace(ctx, d.owner, ledger, &queue.NamespaceOptions{DefaultConsumer: queue.Off}); err != nil {
		return err
	}
	if _, err := d.app.Exec(ctx, `select core.subscribe($1, 'invoice.*', 'demo.on_invoice(jsonb)', '{"consumer": "books"}')`, ledger); err != nil {
		return fmt.Errorf("subscribe a function: %w", err)
	}
	bus := queue.Emitter{Namespace: ledger, Producer: "demo"}
	var batch []queue.Emission
	for n := range invoices {
		batch = append(batch, queue.Emission{Type: invoiceType, Payload: map[string]int{"number": n + 1}})
	}
	if _, err := bus.EmitBatch(ctx, d.app, batch); err != nil {
		return err
	}
	d.invoiced = time.Now()
	d.tell("%d invoices are emitted in namespace %s, which has no node, only demo.on_invoice(jsonb)", invoices, ledger)
	return nil
}

// awaitBooks waits until pg_cron has had its minute.
func (d *demo) awaitBooks(ctx context.Context) error {
	if !d.hasCron() {
		return nil
	}
	if err := d.wait(ctx, "pg_cron to run the handler in SQL", `
		select count(distinct number) = $1 and exists (select from cron.job_run_details r where r.username = 'nexus_sql' and r.status = 'succeeded')
		  from demo.booked`, invoices); err != nil {
		return err
	}
	var after float64
	if err := d.owner.QueryRow(ctx, `select extract(epoch from max(booked_at) - $1::timestamptz) from demo.booked`, d.invoiced).Scan(&after); err != nil {
		return err
	}
	d.tell("pg_cron alone ran demo.on_invoice for each of them, %.0f s after they were emitted", after)
	// By the minute: a pg_cron whose machine is busy writes the start of a run down after the command has begun.
	return d.table(ctx, "runs of nexus:work", `
		select j.username, r.status, to_char(r.start_time at time zone 'UTC', 'HH24:MI:SS') as started, r.end_time - r.start_time as took,
		       (select count(*) from demo.booked b where date_trunc('minute', b.booked_at) = date_trunc('minute', r.start_time) and b.login = j.username) as booked
		  from cron.job j join cron.job_run_details r using (jobid) where j.jobname = 'nexus:work' order by r.runid`)
}
