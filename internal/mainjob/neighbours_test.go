package mainjob_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/mainjob"
)

// theirs is what a service beside Nexus has: queues of all kinds, with names like ours, parents in pg_partman, jobs in pg_cron.
const theirs = `
select pgmq.create('orders');
select pgmq.create('core_events_theirs');
select pgmq.create('core_events_theirs_dlq');
select pgmq.create_unlogged('fast');
select pgmq.enable_notify_insert('orders');
select pgmq.send('orders', '{"eventType": "x", "namespace": "y"}');
select pgmq.send('core_events_theirs', '[1, 2]'::jsonb, '"no object"'::jsonb);
create table public.visits (at timestamptz not null) partition by range (at);
create table public.sold (id bigint not null) partition by range (id);
create table public.sold_0 partition of public.sold for values from (0) to (1000);
create table public.words (w text) partition by range (w);
create table public.words_0 partition of public.words for values from ('a') to ('b');`

const theirParents = `
select partman.create_parent(p_parent_table := 'public.visits', p_control := 'at', p_type := case when (select extversion from pg_extension where extname = 'pg_partman') < '5' then 'native' else 'range' end, p_interval := '1 month');
update partman.part_config set retention = '1 month', retention_keep_table = false where parent_table = 'public.visits';
select pgmq.create_partitioned('log', '10000', '100000');`

// busy is what they do all the time.
var busy = []string{
	`select pgmq.send_batch('orders', array_fill('{"a": 1}'::jsonb, array[20]))`,
	`select pgmq.read('orders', 30, 5)`,
	`select pgmq.pop('orders', 5)`,
	`select pgmq.purge_queue('orders')`,
	`do $$ begin perform pgmq.create('core_events_short'); perform pgmq.send('core_events_short', '{}'); perform pgmq.drop_queue('core_events_short'); end $$`,
	`select pgmq.metrics_all()`,
}

var busyWithPartman = []string{
	`set timezone = 'America/New_York'`,
	`select partman.run_maintenance()`,
	`call partman.run_maintenance_proc()`,
	`select partman.check_default()`,
	`reset all`,
}

var busyWithCron = []string{
	`select cron.schedule('nexus:tick', '* * * * *', 'select 1')`,
	`select cron.schedule('nexus:' || g, '* * * * *', 'select core.tick()') from generate_series(1, 20) g`,
	`select cron.schedule('job_1:0123456789abcdef0123456789abcdef', '* * * * *', E'it''s \\ no : uuid')`,
	`select cron.unschedule(jobid) from cron.job where username = current_user`,
}

// The main job beside somebody who uses the same three extensions, and beside a colleague who is a superuser.
func TestBesideOtherUsersOfTheExtensions(t *testing.T) {
	db := dbtest.New(t)
	neighbour := db.Neighbour()
	partman := dbtest.Get[bool](db, `select to_regnamespace('partman') is not null`)
	cron := dbtest.Get[bool](db, `select to_regnamespace('cron') is not null`)
	do := busy
	for _, sql := range strings.Split(strings.TrimSpace(theirs), ";\n") {
		exec(t, neighbour, sql)
	}
	if partman {
		for _, sql := range strings.Split(strings.TrimSpace(theirParents), ";\n") {
			exec(t, neighbour, sql)
		}
		do = append(do, busyWithPartman...)
	}
	if cron {
		do = append(do, busyWithCron...)
	}
	db.Exec(`analyze pg_catalog.pg_class; analyze pg_catalog.pg_inherits`)

	j, err := mainjob.Start(t.Context(), as(db))
	if err != nil {
		t.Fatal(err)
	}
	main := "core_events_" + string(j.Namespace)
	// The colleague switches things on for all queues, and forgets some that he takes for dead.
	exec(t, db.Owner, `select pgmq.enable_notify_insert('`+main+`')`)
	exec(t, neighbour, `delete from pgmq.meta where queue_name like 'core_events_job%'`)
	if partman {
		exec(t, db.Owner, `update partman.part_config set automatic_maintenance = 'on'`, `set timezone = 'America/New_York'`, `select partman.run_maintenance()`, `reset all`)
	}

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var wg sync.WaitGroup
	for i, pool := range []*pgxpool.Pool{neighbour, neighbour, db.Owner} {
		wg.Go(func() {
			for ctx.Err() == nil {
				for _, sql := range do {
					if _, err := pool.Exec(ctx, sql); err != nil && ctx.Err() == nil && i == 0 && !strings.Contains(err.Error(), "deadlock") {
						t.Logf("theirs: %s: %v", sql, err)
					}
				}
				select {
				case <-ctx.Done():
				case <-time.After(20 * time.Millisecond):
				}
			}
		})
	}
	for range 2 {
		if err := j.Round(t.Context()); err != nil {
			t.Error(err)
		}
	}
	stop()
	wg.Wait()
	if err := j.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from pg_class where relname like '%`+main+`%'`); n > 0 {
		t.Errorf("%d relations of the queue are left", n)
	}
	if got := dbtest.Get[string](db, `select string_agg(distinct owner::text, ' ') || ' ' || bool_and(is_default or is_month) from core.partitions`); got != "nexus_owner true" {
		t.Errorf("partitions: %s", got)
	}
	// Nothing of theirs was taken for ours.
	if n := dbtest.Get[int](db, `select count(*)::int from pgmq.q_core_events_theirs`); n != 1 {
		t.Errorf("their queue has %d messages", n)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from pg_class where oid in (to_regclass('public.sold_0'), to_regclass('public.words_0'), to_regclass('pgmq.q_fast'))`); n != 3 {
		t.Errorf("%d of their tables are there", n)
	}
	if cron {
		if n := dbtest.Get[int](db, `select count(*)::int from core.cron_drift where kind not in ('foreign_owner', 'wrong_database')`); n > 0 {
			t.Errorf("jobs of Nexus are not as they were: %s", dbtest.Get[string](db, `select string_agg(to_jsonb(d)::text, ' ') from core.cron_drift d`))
		}
	}
}

func exec(t *testing.T, pool *pgxpool.Pool, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(fmt.Errorf("%s: %w", sql, err))
		}
	}
}
