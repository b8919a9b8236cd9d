package nexussql_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// plant puts something of every name that the code could look up into schema trap; see testdata/plants.sql.
func plant(t *testing.T, db *dbtest.DB) {
	t.Helper()
	raw, err := os.ReadFile("testdata/plants.sql")
	if err != nil {
		t.Fatal(err)
	}
	db.Exec(string(raw), pgx.QueryExecModeSimpleProtocol)
}

// planted connects as a login of its own in a duty's role, with all that it can write first in its search path, and collects what
// planted things say when they run. The roles of pg_cron's jobs and of SQL handlers are logins themselves, and tests of other packages on the same server do not
// trust an installation in whose owning roles anybody is a member.
func planted(t *testing.T, db *dbtest.DB, duty string) (*pgx.Conn, *[]string) {
	t.Helper()
	login := "trapper_" + duty
	cfg := db.Pool.Config().ConnConfig.Copy()
	if duty == "nexus_scheduler" || duty == "nexus_sql" {
		login, cfg = duty, db.Owner.Config().ConnConfig.Copy()
		cfg.AfterConnect = func(ctx context.Context, c *pgconn.PgConn) error {
			return c.Exec(ctx, `set session authorization `+duty).Close()
		}
	} else {
		db.Exec(`do $$ begin create role ` + login + ` login password 'trap' in role ` + duty + `; exception when duplicate_object then null; end $$`)
		t.Cleanup(func() {
			_, _ = db.Owner.Exec(context.Background(), `drop owned by `+login+`; drop role `+login, pgx.QueryExecModeSimpleProtocol)
		})
		cfg.User, cfg.Password = login, "trap"
	}
	db.Exec(`create schema trapper_` + duty + ` authorization ` + login + `; grant create on schema public to ` + login)
	cfg.RuntimeParams["search_path"] = ""
	ran := &[]string{}
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if strings.HasPrefix(n.Message, "planted:") {
			*ran = append(*ran, n.Message)
		}
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), `select trap.plant_relations('pg_temp')`); err != nil {
		t.Fatal(err)
	}
	return conn, ran
}

const trapped = `trap, public, "$user", pg_temp, pg_catalog`

// arguments are what a function is called with, by the name of the argument; those that have a default and no row here are left out,
// others are NULL.
var arguments = map[string]string{
	"p_search_path": "'" + trapped + "'",
	"p_namespace":   "'shop'", "p_queue": "'core_events_shop'", "p_consumer": "'default'", "p_event_type": "'a.b'", "p_payload": "'{\"a\": 1}'",
	"p_options": "'{}'", "p_event_types": "array['a.b', 'a.c']", "p_payloads": "array['1', '{}']::pg_catalog.jsonb[]", "p_types": "array['a.*']",
	"p_max_attempts": "array[3]", "p_limit": "10", "p_lease": "'1 min'", "p_node": "'n1'", "p_node_id": "'n1'", "p_given": "true",
	"p_msg_id": "1", "p_read_ct": "1", "p_ids": "array[2, 3]", "p_cts": "array[1, 1]", "p_ack_ids": "array[1]", "p_ack_cts": "array[1]",
	"p_actions": "array['retry', 'reject']", "p_afters": "array[null, null]::pg_catalog.interval[]", "p_policies": "array[null, null]::pg_catalog.jsonb[]",
	"p_reasons": "array['r', 'r']", "p_errors": "array['e', 'e']", "p_key": "7", "p_marker": "1",
	"p_at": "'2031-01-01T00:00:00Z'", "p_from": "'2026-01-01T00:00:00Z'", "p_to": "'2026-01-02T00:00:00Z'", "p_name": "'t'", "p_owner": "'o'",
	"p_cron_expression": "'0 * * * *'", "p_expression": "'0 * * * *'", "p_tasks": `'[{"namespace": "shop", "name": "u", "cron_expression": "0 * * * *", "event_type": "a.b"}]'`,
	"p_dead_letter_id": "1", "p_filter": `'{"namespace": "shop"}'`, "p_watch_id": "'1'", "p_on": "true", "p_reason": "'because'", "p_resolution": "'ignored'", "p_confirm": "'shop'",
	"p_duty": "'read'", "p_role": "current_user", "p_keys": "array['core_events_shop']", "p_for": "'1 s'", "p_policy": "'{}'", "p_attempt": "1",
	"p_event_id": "1", "p_state": "'active'", "p_producer_node_id": "'n1'", "p_schedule_id": "'00000000-0000-0000-0000-000000000001'",
	"p_task_id": "'00000000-0000-0000-0000-00000000007a'", "p_force": "true",
	"emit_batch p_options": "null", "run_sweep p_name": "'partitions'", "claim_batch p_lease": "null", "claim_sql p_owner": "null", "p_within": "'5 s'", "purge_queue p_confirm": "'core_events_shop'",
	"outbox_enqueue p_queue": "'jobs'", "outbox_enqueue_batch p_queue": "'jobs'", "outbox_pace p_queue": "'jobs'", "lanes_due p_queue": "'jobs'", "give_back_lanes p_queue": "'jobs'", "outbox_repartition p_queue": "'jobs'", "outbox_replay p_queue": "'jobs'", "claim_ordered p_consumer": "'ledger'", "look_ordered p_consumer": "'ledger'", "look_ordered p_wait": "'1 s'", "settle_ordered p_results": `'[{"lane": 1, "token": "00000000-0000-7000-8000-00000000f10e", "seq": 0, "id": 1, "action": "ack"}]'`, "lane_pause p_queue": "'jobs'", "lane_release p_queue": "'jobs'", "lane_resume p_queue": "'jobs'", "lane_skip p_queue": "'jobs'", "outbox_drop_queue p_queue": "'jobs'", "outbox_register_queue p_queue": "'more'",
	"p_lanes": "2", "p_lane": "0", "p_body": "'x'", "p_body_type": "'t'", "p_bodies": "array['x']::pg_catalog.bytea[]", "p_body_types": "array['t']", "outbox_enqueue p_key": "'k'", "outbox_enqueue_batch p_keys": "array['k']",
	"p_run": "'00000000-0000-7000-8000-00000000f10e'", "p_run_id": "'00000000-0000-7000-8000-00000000f10e'", "p_runs": "array['00000000-0000-7000-8000-00000000f10e']", "p_path": "''", "end_branch p_path": "'p/a'", "p_paths": "array['']", "p_epoch": "1",
	"p_epochs": "array[1]", "p_token": "'00000000-0000-7000-8000-00000000f10e'", "p_pos": "0", "p_entered": "0", "p_ord": "array[1]", "commit_steps p_pos": "array[0]", "commit_steps p_entered": "array[0]", "commit_steps p_keys": "array['a']",
	"p_ords": "array['{1}']", "p_results": "array['1']", "p_undos": "array[null]", "p_ops": "array['next']", "p_outputs": "array[null]", "p_defs": "array[1]", "p_workflow": "'w'", "p_version": "1", "fork_workflow p_step": "'a'",
	"p_steps": `'[{"name": "a", "kind": "step"}]'`, "p_action": "'retry'", "p_kind": "'sleep'", "commit_step p_key": "'a'", "p_result": "'1'", "wait_step p_key": "'a'", "fail_step p_key": "'a'", "fan_out p_key": "'a'", "start_child p_key": "'a'", "undo_step p_key": "'a'", "undo_tx_step p_key": "'a'", "commit_tx_step p_key": "'a'", "p_op": "'next'", "end_branch p_key": "'a'",
	"p_branches": "array['b']", "p_progress": "'1'", "signal_workflow p_name": "'go'", "register_workflow p_name": "'x'", "fail_undo p_error": "'e'",
	"p_lane_id": "1", "p_lane_ids": "array[1]", "p_tokens": "array[pg_catalog.gen_random_uuid()]",
}

// No call as any duty runs what its caller planted, whatever the search path says and whatever it hands in as one.
// holds: I3-paths (every function and view, as each duty, beside plants of every name)
func TestNothingPlantedRuns(t *testing.T) {
	db := dbtest.New(t)
	plant(t, db)
	db.Namespace("shop")
	db.Exec(`select core.outbox_register_queue('shop', 'jobs', 1), core.create_consumer('shop', 'ledger', '{a.*}', '{"kind": "ordered"}')`)
	db.Exec(`select core_node.register_workflow('shop', 'w', 1, '[{"name": "a", "kind": "step"}]')`)
	db.Exec(`select core.start_workflow('shop', 'w')`)
	db.Exec(`update core_private.workflow_runs set run_id = '00000000-0000-7000-8000-00000000f10e', status = 'failed', finished_at = core.now()`)
	db.Exec(`select core.emit_batch('shop', array_fill('a.b'::text, array[20]), array_fill('1'::jsonb, array[20]));
		insert into core.scheduled_tasks (task_id, namespace, name, cron_expression, event_type, payload)
		values ('00000000-0000-0000-0000-00000000007a', 'shop', 't', '0 * * * *', 'a.b', '{}');
		select core_node.settle('core_events_shop', null, '{}', '{}', '{}', jsonb_agg(jsonb_build_object('id', c.msg_id, 'ct', c.read_ct, 'at', c.last_read_at, 'action', 'reject', 'reason', 'r', 'error', 'e')))
		  from core_node.claim('core_events_shop', '{a.b}', '{3}', 5, '1 min') c where c.outcome = 'claimed';
		select core.emit('shop', 'a.b', '1', '{"deliver_at": "2026-01-01T00:00:00Z"}');
		select core.schedule_event('shop', 'a.b', '1', '2031-01-01T00:00:00Z', '{"schedule_id": "00000000-0000-0000-0000-000000000001"}');
		create table public.watched (id integer primary key);
		select core.watch_table('shop', 'public.watched', 'a')`,
		pgx.QueryExecModeSimpleProtocol)
	calls := column(t, db, `
		select format('%s.%I(%s)', p.pronamespace::regnamespace, p.proname, coalesce(string_agg(format('%I => %s', p.proargnames[a.n], v.value || '::' || t.name), ', ' order by a.n)
		         filter (where v.value is not null), ''))
		  from pg_proc p
		  left join lateral unnest(p.proargtypes::oid[]) with ordinality a (type, n) on true
		  left join lateral (select case when y.typelem <> 0 and y.typlen = -1 then format('pg_catalog.%I[]', (select e.typname from pg_type e where e.oid = y.typelem))
		                                 else format('pg_catalog.%I', y.typname) end as name from pg_type y where y.oid = a.type) t on true
		  left join lateral (select coalesce((select x.value from (values `+values(arguments)+`) x (key, value) where x.key in (p.proargnames[a.n], p.proname || ' ' || p.proargnames[a.n]) order by x.key like '% %' desc limit 1),
		                       case when a.n <= p.pronargs - p.pronargdefaults then 'null' end) as value) v on true
		 where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace) and p.prokind = 'f' and p.prorettype <> 'trigger'::regtype
		 group by p.oid, p.pronamespace, p.proname
		 order by p.proname in ('drop_namespace', 'purge_queue'), p.proname = 'forget_node', p.proname <> 'register_node', p.proname not like 'claim%', 1`)
	views := column(t, db, `select format('core.%I', c.relname) from pg_class c where c.relnamespace = 'core'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition order by 1`)
	answered := map[string]bool{}
	for _, duty := range slices.Sorted(maps.Keys(mayCall)) {
		t.Run(duty, func(t *testing.T) {
			db.Exec(`update core_private.sweeps set last_started_at = null, every = '1 hour' where name <> 'retention'`) // all are due
			conn, ran := planted(t, db, duty)
			may := fields(mayCall[duty])
			for _, c := range slices.Concat(calls, views) {
				_, name, _ := strings.Cut(strings.SplitN(c, "(", 2)[0], ".")
				isView := !strings.Contains(c, "(")
				if !isView && !slices.Contains(may, name) {
					continue
				}
				if name == "tick" {
					db.Exec(`update core_private.sweeps set last_started_at = null`)
				}
				// Each in a transaction that is undone, but for those whose work the next ones need.
				end := "rollback"
				if slices.Contains([]string{"register_node", "claim", "create_namespace"}, name) {
					end = "commit"
				}
				*ran = nil
				_, err := conn.Exec(t.Context(), "begin; set local search_path = "+trapped+"; select * from "+c)
				if _, e := conn.Exec(t.Context(), end+"; set search_path = ''"); e != nil {
					t.Fatal(e)
				}
				for _, r := range slices.Compact(*ran) {
					t.Errorf("%s ran what was planted: %s", c, r)
				}
				var pg *pgconn.PgError
				switch {
				case err == nil:
					answered[c] = true
				case !errors.As(err, &pg), pg.Code[:2] == "42" && pg.Code != "42501":
					t.Errorf("%s: %v", c, err)
				case !isView && !strings.HasPrefix(pg.Code, "NX4"):
					t.Logf("%s: %v", c, err)
				}
			}
		})
	}
	if want := len(calls) + len(views); len(answered) < want*3/4 {
		t.Errorf("only %d of %d calls were answered for any duty: the others show nothing", len(answered), want)
	}
}

// The few functions that are not pinned, so that they are inlined, find what they name in pg_catalog, core and core_private under any path.
// The database is asked which objects such a body comes to depend on when it is read under a path of traps.
// holds: I3-paths
func TestUnpinnedBodiesNameEverythingInFull(t *testing.T) {
	db := dbtest.New(t)
	plant(t, db)
	db.Exec(`create schema lint`)
	// One that was forgotten, to see that traps are found.
	db.Exec(`create function core_private.offender(p_a boolean) returns text language sql as $$ select nullif(p_a, false)::pg_catalog.text $$`)
	found := map[string][]string{}
	for _, f := range column(t, db, `
		select p.oid::regprocedure::text from pg_proc p
		 where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
		   and p.prokind = 'f' -- a procedure that commits shows it in a test of its own
		   and not exists (select from unnest(p.proconfig) c where c like 'search_path=%') order by 1`) {
		create := dbtest.Get[string](db, `
			select format('create function lint.f(%s) returns pg_catalog.%I language sql begin atomic %s; end',
			              (select coalesce(string_agg(format('%I %I.%I', p.proargnames[a.n], t.typnamespace::regnamespace, t.typname), ', ' order by a.n), '')
			                 from unnest(p.proargtypes::oid[]) with ordinality a (type, n) join pg_type t on t.oid = a.type),
			              (select t.typname from pg_type t where t.oid = p.prorettype), p.prosrc)
			  from pg_proc p where p.oid = $1::text::regprocedure`, f)
		if _, err := db.Owner.Exec(t.Context(), "begin; set local search_path = "+trapped+"; "+create+"; commit", pgx.QueryExecModeSimpleProtocol); err != nil {
			found[f] = []string{err.Error()} // no such cast, of a planted type
			db.Owner.Reset()
			continue
		}
		found[f] = column(t, db, `
			select pg_describe_object(d.refclassid, d.refobjid, 0) from pg_depend d
			 where d.classid = 'pg_proc'::regclass and d.objid = (select p.oid from pg_proc p where p.pronamespace = 'lint'::regnamespace)
			   and (select o.schema from pg_identify_object(d.refclassid, d.refobjid, 0) o) not in ('pg_catalog', 'core', 'core_node', 'core_private', 'lint')`)
		db.Exec("do $$ begin execute (select 'drop function ' || p.oid::regprocedure from pg_proc p where p.pronamespace = 'lint'::regnamespace); end $$")
	}
	const offender = "core_private.offender(boolean)"
	if len(found[offender]) == 0 {
		t.Error("nullif, which looks up its =, is not noticed")
	}
	delete(found, offender)
	for f, traps := range found {
		if len(traps) > 0 {
			t.Errorf("%s finds %v", f, traps)
		}
	}
}

// values of a VALUES list.
func values(m map[string]string) string {
	var rows []string
	for k, v := range m {
		rows = append(rows, fmt.Sprintf("('%s', '%s')", k, strings.ReplaceAll(v, "'", "''")))
	}
	return strings.Join(rows, ", ")
}
