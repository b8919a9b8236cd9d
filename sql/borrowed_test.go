package nexussql_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/pgdev"
)

// A reader and somebody with every duty but no grant own tables whose index expressions, matviews and triggers do what they may not,
// in the sessions of others. Each attempt notes in a table what came of it.
const thieves = `
create role rita login password 'x' in role nexus_reader;
create role olga login password 'x' in role nexus_reader, nexus_producer, nexus_consumer, nexus_operator;
create role boss login password 'x' in role nexus_admin;
create role app login password 'x' in role nexus_producer, nexus_consumer, nexus_reader;
select core.create_namespace('open'), core.create_namespace('closed', '{"restricted": true}'), core.create_namespace('doomed');
select core.grant_namespace('closed', 'app', d) from unnest('{produce,consume,read}'::text[]) d;
select core.emit_batch(n, '{a,a,a}', '{1,2,3}') from unnest('{open,closed}'::text[]) n;
select core_node.settle('core_events_closed', null, '{}', '{}', '{}', jsonb_build_array(jsonb_build_object('id', 1, 'ct', 1, 'at', c.last_read_at, 'action', 'reject', 'reason', 'r', 'error', 'e')))
  from core_node.claim('core_events_closed', '{a}', '{3}', 1, '1 min') c where c.outcome = 'claimed';
grant usage on schema pgmq to rita, olga;
grant select on pgmq.q_core_events_closed to rita, olga;

create schema thieves;
create table thieves.noted (at timestamptz default clock_timestamp(), place text, thief text default current_user, victim text default session_user, attempt text, outcome text);
create table thieves.attempts (name text, sql text);
insert into thieves.attempts values
  ('grant', $$select core.grant_namespace('closed', 'rita', 'read')$$),
  ('grant olga', $$select core.grant_namespace('closed', 'olga', 'operate')$$),
  ('restrict', $$select core.alter_namespace('open', '{"restricted": true}')$$),
  ('drop', $$select core.drop_namespace('doomed', 'doomed', true)$$),
  ('create', $$select core.create_namespace('stolen')$$),
  ('register it', $$select core.register_namespace('stolen')$$),
  ('require', $$select core.require_namespace('closed')$$),
  ('create what is there', $$select core.create_namespace('closed')$$),
  ('scheduler', $$select core.alter_scheduler('{"keep_slots": "1 hour"}')$$), ('settings', $$select core.alter_settings('{}')$$),
  ('read log', $$select 1 / count(*) from core.event_log where namespace = 'closed'$$),
  ('read dead letters', $$select 1 / count(*) from core.dead_letters where namespace = 'closed'$$),
  ('read namespaces', $$select 1 / count(*) from core.namespaces where namespace = 'closed'$$),
  ('read queue', $$select 1 / count(*) from pgmq.q_core_events_closed$$),
  ('read metrics', $$select 1 / count(*) from core.queue_metrics where queue_name = 'core_events_closed'$$),
  ('visible', $$select 1 / count(*) from unnest(core.visible_namespaces()) n where n = 'closed'$$),
  ('peek', $$select 1 / count(*) from core.peek('core_events_closed')$$),
  ('event_status', $$select 1 / count(*) from thieves.event e cross join lateral core.event_status(e.event_id)$$),
  ('find_event', $$select 1 / (core.find_event(e.event_uid) is not null)::integer from thieves.event e$$),
  ('emit', $$select core.emit('closed', 'stolen')$$),
  ('emit_batch', $$select core.emit_batch('closed', '{stolen}', '{1}')$$),
  ('emit as another', $$select core.emit('open', 'stolen')$$),
  ('claim', $$select core_node.claim('core_events_closed', '{a}', '{3}', 1, '1 min')$$),
  ('replay', $$select core.replay_dead_letter(1)$$),
  ('schedule', $$select core.schedule_event('closed', 'stolen', '1', '2031-01-01Z')$$),
  ('schedule by hand', $$insert into core.scheduled_tasks (namespace, name, cron_expression, event_type, payload) values ('closed', 'stolen', '0 * * * *', 'a', '{}')$$),
  ('register', $$select core_node.register_node('closed', 'stolen', true, '{a}')$$);
create table thieves.event as select event_id, event_uid from core.event_log where namespace = 'closed' limit 1;
grant usage, create on schema thieves to rita, olga, boss, app;
grant select on thieves.attempts, thieves.event to public;
grant select, insert on thieves.noted to public;
create function thieves.act(p_place text) returns integer language plpgsql volatile as $$
declare a record; v_outcome text;
begin
  for a in select * from thieves.attempts loop
    begin
      execute a.sql;
      v_outcome := 'DONE';
    exception when others then v_outcome := sqlstate || ' ' || sqlerrm;
    end;
    insert into thieves.noted (place, attempt, outcome) values (p_place, a.name, v_outcome);
  end loop;
  return 1;
end $$;
-- Immutable, they say.
create function thieves.index(p_i integer, p_place text) returns integer language plpgsql immutable as $$
begin
  if pg_catalog.current_setting('thieves.place', true) is distinct from 'none' then
    perform thieves.act(coalesce(nullif(pg_catalog.current_setting('thieves.place', true), ''), p_place));
  end if;
  return p_i;
end $$;
grant execute on all functions in schema thieves to public;
set thieves.place = 'none';
do $$ declare r text; begin
  foreach r in array '{rita,olga}'::text[] loop
    execute format('set local role %I', r);
    execute format('create table thieves.%I (i integer, place text) with (autovacuum_enabled = off)', r);
    execute format('insert into thieves.%I values (1, ''autovacuum'')', r);
    execute format('create index %1$I on thieves.%2$I (thieves.index(i, place))', r || '_index', r);
    execute format('create materialized view thieves.%I as select thieves.act(''REFRESH'') as i with no data', r || '_matview');
    execute format('create table thieves.%I (i integer)', r || '_written');
    execute format('create function thieves.%I() returns trigger language plpgsql security definer as $f$ begin perform thieves.act(''trigger''); return new; end $f$', r || '_trigger');
    execute format('create trigger t before insert on thieves.%1$I for each row execute function thieves.%2$I()', r || '_written', r || '_trigger');
    execute format('grant insert on thieves.%I to public', r || '_written');
    reset role;
  end loop;
end $$;
reset thieves.place;
`

// A table owner's functions run in other people's sessions, of autovacuum too. Nothing is granted, dropped, read or emitted there that the
// owner may not: neither by an administrator's session nor by one with a grant.
// holds: I3-borrowed (a real autovacuum, ANALYZE, VACUUM, REFRESH, CREATE INDEX, REINDEX, definer triggers; in sessions of a superuser, an administrator and a producer)
func TestNobodyBorrowsASession(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Cluster(t, pgdev.Options{Settings: map[string]string{"autovacuum_naptime": "1s"}}, dbtest.BuildTemplate)
	connect := func(login string) *pgxpool.Pool {
		u, err := url.Parse(cluster.URL(pgdev.TestCronDatabase))
		if err != nil {
			t.Fatal(err)
		}
		if login != "postgres" {
			u.User = url.UserPassword(login, "x")
		}
		pool, err := pgxpool.New(t.Context(), u.String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		return pool
	}
	owner := connect("postgres")
	do := func(pool *pgxpool.Pool, sql string) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	get := func(sql string) string {
		t.Helper()
		var got string
		if err := owner.QueryRow(t.Context(), sql).Scan(&got); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return got
	}
	do(owner, thieves)
	state := func() string {
		return get(`select concat_ws(' | ',
			(select string_agg(n.namespace || n.restricted, ' ' order by 1) from core.namespaces n),
			(select string_agg(g.role_name || g.duty, ' ' order by 1) from core.namespace_grants g),
			(select count(*) from core.event_log where namespace = 'closed'), (select count(*) from core.event_log where principal not in ('olga', 'app') and event_type = 'stolen'),
			(select count(*) from pgmq.q_core_events_closed where read_ct = 0), (select string_agg(status, ' ') from core.dead_letters),
			(select count(*) from core.scheduled_events), (select count(*) from core.scheduled_tasks), (select count(*) from core.nodes), (select keep_slots from core_private.scheduler))`)
	}
	before := state()

	// What works at all: the attempts that olga makes in her own name and in an open namespace.
	olga := connect("olga")
	do(olga, `select thieves.act('herself')`)
	if got := get(`select string_agg(attempt, ',' order by at) from thieves.noted where outcome = 'DONE'`); got != "emit as another" {
		t.Errorf("by herself she does %s", got)
	}

	name := pgdev.TestCronDatabase
	inSessionsOf := func(victims []string, places func(victim string) []string) {
		t.Helper()
		for _, victim := range victims {
			pool := owner
			if victim != "postgres" {
				// The owner of a database may vacuum and analyze all of it, on any version.
				do(owner, `alter database `+name+` owner to `+victim)
				pool = connect(victim)
			}
			for _, thief := range []string{"rita", "olga"} {
				for _, place := range places(victim) {
					sql := strings.ReplaceAll(place, "%s", "thieves."+thief)
					conn, err := pool.Acquire(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if _, err := conn.Exec(t.Context(), `select set_config('thieves.place', $1, false)`, place); err != nil {
						t.Fatal(err)
					}
					if _, err := conn.Exec(t.Context(), sql); err != nil {
						t.Errorf("%s: %v", sql, err)
					}
					conn.Release()
				}
			}
		}
	}
	inSessionsOf([]string{"postgres", "boss", "app"}, func(victim string) []string {
		places := []string{"analyze %s", "vacuum (analyze) %s", "vacuum full %s"}
		if victim == "postgres" {
			places = append(places, "reindex table %s", "create index on %s (thieves.index(i, place))", "refresh materialized view %s_matview")
		}
		return places
	})
	do(owner, `alter database `+name+` owner to postgres`)

	// A real autovacuum: its worker is a session of the superuser's.
	do(owner, `alter table thieves.rita set (autovacuum_enabled = on, autovacuum_analyze_threshold = 0, autovacuum_analyze_scale_factor = 0);
		alter table thieves.olga set (autovacuum_enabled = on, autovacuum_analyze_threshold = 0, autovacuum_analyze_scale_factor = 0);
		set thieves.place = 'none'; insert into thieves.rita select i, 'autovacuum' from generate_series(1, 3) i; insert into thieves.olga select i, 'autovacuum' from generate_series(1, 3) i`)
	deadline := time.Now().Add(time.Minute)
	for get(`select (count(distinct thief) = 2)::text from thieves.noted where place = 'autovacuum'`) != "true" {
		if time.Now().After(deadline) {
			t.Fatal("no autovacuum within a minute")
		}
	}

	if got := get(`select count(distinct (place, thief, victim))::text from thieves.noted where place <> 'herself'`); got != "26" {
		t.Errorf("they acted in %s places", got)
	}
	if after := state(); after != before {
		t.Errorf("before: %s\nafter:  %s", before, after)
	}
	// In a session with nothing but duties, of an open namespace, olga emits as she may anyway.
	done := func(where string) []string {
		return column(t, &dbtest.DB{Owner: owner}, `
			select distinct concat_ws(' ', thief, 'as', victim) || ': ' || string_agg(distinct attempt, ', ' order by attempt)
			  from thieves.noted where outcome = 'DONE' and place `+where+` group by thief, victim order by 1`)
	}
	if diff := cmp.Diff([]string{"olga as app: emit as another"}, done(`not in ('herself', 'trigger')`)); diff != "" {
		t.Errorf("done in borrowed sessions (-want +got)\n%s", diff)
	}

	// What remains is written in docs/explanation/security.md: a definer trigger, or any definer function, of another role may call what
	// its owner may call, and then the login's grants are asked. It never administers, and rows are those of its owner.
	inSessionsOf([]string{"postgres", "boss", "app"}, func(string) []string { return []string{"insert into %s_written values (1)"} })
	if diff := cmp.Diff([]string{
		"olga as app: claim, create what is there, emit, emit as another, emit_batch, event_status, find_event, peek, require, schedule, visible",
		"olga as boss: claim, create what is there, emit, emit as another, emit_batch, event_status, find_event, peek, require, schedule, visible",
		"olga as postgres: claim, create what is there, emit, emit as another, emit_batch, event_status, find_event, peek, register, replay, require, schedule, visible",
		"rita as app: create what is there, event_status, find_event, peek, require, visible",
		"rita as boss: create what is there, event_status, find_event, peek, require, visible",
		"rita as postgres: create what is there, event_status, find_event, peek, require, visible",
	}, done(`= 'trigger'`)); diff != "" {
		t.Errorf("done by triggers (-want +got)\n%s", diff)
	}
}
