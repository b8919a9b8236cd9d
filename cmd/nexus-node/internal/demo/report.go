package demo

import (
	"context"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"
)

// figures are the rows of the table, each a query that gives name and value. An attempt that left neither an effect nor a
// recorded failure went down with the killed node.
const figures = `
select 'handled by ' || node, count(*)::text from demo.handled group by node
union all select 'event types, repositories, senders', format('%s, %s, %s',
	(select count(*) from demo.by_type), (select count(*) from demo.by_repository), (select count(*) from demo.by_sender))
union all select 'sum of the aggregates', (select sum(events)::text from demo.by_type)
union all select 'retries after a failure', count(*)::text || coalesce(': ' || max(event_type) filter (where event_type = '` + flakyType + `') || ' '
	|| count(*) filter (where event_type = '` + flakyType + `'), '') from core.delivery_errors where action = 'retry' and consumer = 'default'
union all select 'retries after kill -9', coalesce(sum(greatest(h.attempt - 1 - e.failures, 0)), 0)::text from demo.handled h
	cross join lateral (select count(*) as failures from core.delivery_errors e where e.event_uid = h.event_uid and e.action = 'retry' and e.consumer = 'default') e
	where h.attempt > 1
union all select 'lag from emit to effect, ms', (select format('median %s, 99%% below %s, longest %s',
	round((percentile_cont(0.5) within group (order by ms))::numeric), round((percentile_cont(0.99) within group (order by ms))::numeric), round(max(ms)))
	from (select extract(epoch from h.handled_at - r.received_at) * 1000 as ms from demo.handled h join demo.received r using (event_uid)) lag)
union all select 'dead letters: ' || reason, count(*) || ', ' || string_agg(distinct coalesce(resolution, 'unresolved'), ', ') from core.dead_letters group by reason
union all select 'left on queue ' || queue_name, queue_length::text from core.queue_metrics
union all select 'partition ' || tableoid::regclass::text, count(*) || ' events' from core.event_log group by tableoid
union all select 'partitions of the log', count(*) || ', to ' || max(to_time)::date from core.partitions`

// look are lines for psql.
var look = []string{
	`select * from core.queue_metrics`,
	`select event_type, count(*) from core.event_log group by 1 order by 2 desc limit 5`,
	`select dead_letter_id, event_type, reason, attempts, resolution, resolved_reason from core.dead_letters`,
	`select event_type, attempt, action, error from core.delivery_errors order by failed_at desc limit 5`,
	`select node_id, state, heartbeat_age from core.node_status`,
	`select name, slot, status, lateness from core.task_slots join core.scheduled_tasks using (task_id) order by slot desc, name limit 8`,
	`select name, cron_expression, timezone, active, fired, skipped, last_lateness from core.task_status`,
	`select event_type, payload, status, fire_at, finished_at from core.scheduled_events`,
	`select name, last_ok_at, last_ms, last_error from core.sweep_status`,
}

// lookCron are those for a server that has pg_cron.
var lookCron = []string{
	`select jobid, jobname, schedule, command, active from cron.job`,
	`select jobid, status, start_time, return_message from cron.job_run_details order by runid desc limit 5`,
}

func (d *demo) report(ctx context.Context) error {
	rows, err := d.owner.Query(ctx, figures)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(d.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w)
	var name, value string
	if _, err := pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		_, err := fmt.Fprintf(w, "  %s\t%s\n", name, value)
		return err
	}); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	url := d.cluster.URL(database)
	if d.Keep {
		d.say("\nlook further:")
	} else {
		url = "$NEXUS_DATABASE_URL"
		d.say("\nlook further, after `make demo KEEP=1`, with the URL that it prints:")
	}
	lines := look
	if d.hasCron() {
		lines = slices.Concat(look, lookCron)
	}
	for _, sql := range lines {
		d.say("  psql %q -c %q", url, sql)
	}
	d.say("")
	return nil
}
