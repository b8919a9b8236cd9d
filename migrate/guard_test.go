package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
)

// whole is what the installer guards, and the owners.
const whole = `select string_agg(line, E'\n' order by line) from (
		select format('%s: %s', object, state) as line from core_private.guard where object not like 'column theirs %'
		union all select format('%s %s', c.oid::regclass, c.relowner::regrole) from pg_class c where (c.relnamespace = 'core'::regnamespace or c.relnamespace = 'pgmq'::regnamespace and c.relname ~ '_core_events_') and c.relkind in ('r', 'p', 'v', 'S')
		union all select format('%s %s %s', p.oid::regprocedure, p.proowner::regrole, p.proacl is null) from pg_proc p where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
		union all select format('%s %s %s', polrelid::regclass, polname, pg_get_expr(polqual, polrelid)) from pg_policy
		union all select pg_get_indexdef(indexrelid) from pg_index join pg_class c on c.oid = indexrelid where relnamespace = 'core'::regnamespace and not relispartition
		union all select format('%s %s %s %s', attrelid::regclass, attname, attnotnull, (select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = attrelid and adnum = attnum))
			from pg_attribute join pg_class c on c.oid = attrelid where relnamespace = 'core'::regnamespace and relkind = 'r' and attnum > 0 and not attisdropped and attname <> 'theirs'
		union all select format('sweep %s %s', name, function) from core_private.sweeps
		union all select format('%s %s', oid::regclass, relrowsecurity) from pg_class where relnamespace = 'pgmq'::regnamespace and relkind = 'r') l`

// What keeps rows apart and tables whole is seen when somebody takes it away, by name, and put back.
// holds: I3-kept
func TestWhatIsTakenAwayIsPutBack(t *testing.T) {
	address := installed(t)
	pool := connect(t, address)
	execute(t, address, `select core.create_namespace('shop'); select core.create_namespace('till'); select core.create_namespace('vault');
		do $$ begin if to_regrole('keeper') is null then create role keeper; end if; end $$;
		grant nexus_operator to keeper;
		update core.namespaces set restricted = true where namespace = 'vault'; select core_private.grant_queues('vault');
		select core.grant_namespace('vault', 'keeper', 'operate');
		do $$ begin if to_regrole('somebody') is null then create role somebody; end if; end $$`)
	if r, err := Status(t.Context(), pool); err != nil || len(r.Unsafe)+len(r.Applied)+len(r.Distrusted) > 0 {
		t.Fatalf("nothing was touched, and status says %+v, %v", r, err)
	}
	before := value[string](t, pool, whole)
	for i, c := range []struct{ harm, seen string }{
		{`alter table core.event_log disable row level security`, "row security of core.event_log: off, not forced"},
		{`alter table core.dead_letters force row level security`, "row security of core.dead_letters: on, forced"},
		{`alter table core.dead_letters disable trigger note_update_by_hand`, "trigger note_update_by_hand on core.dead_letters: "},
		{`alter table core.audit_log enable replica trigger keep_rows`, "trigger keep_rows on core.audit_log: "},
		{`alter table core.audit_log enable trigger keep_all`, "trigger keep_all on core.audit_log: "},
		{`drop trigger note_delete_by_hand on core.dead_letters`, "trigger note_delete_by_hand on core.dead_letters is gone"},
		{`drop policy visible on core.event_log`, "policy visible on core.event_log is gone"},
		{`alter policy visible on core.dead_letters using (true)`, "policy visible on core.dead_letters: "},
		{`create policy open on core.event_log using (true)`, "policy open on core.event_log was added"},
		{`alter table core.scheduled_tasks disable trigger check_task`, "trigger check_task on core.scheduled_tasks: "},
		{`drop trigger note_named_consumers on core.consumers`, "trigger note_named_consumers on core.consumers is gone"},
		{`alter table core.event_log owner to somebody`, "table core.event_log belongs to somebody in place of nexus_owner"},
		{`alter function core.emit(text, text, jsonb, jsonb) owner to postgres`, "routine core.emit(text, text, jsonb, jsonb) belongs to postgres"},
		{`alter view core.queue_metrics owner to postgres`, "view core.queue_metrics belongs to postgres"},
		{`alter schema core owner to postgres`, "schema core belongs to postgres"},
		{`grant select on core.event_log to public`, "rights on relation core.event_log: "},
		{`revoke execute on function core.emit(text, text, jsonb, jsonb) from nexus_producer`, "rights on function core.emit(text, text, jsonb, jsonb): none, before nexus_producer:EXECUTE"},
		{`grant select (payload) on core.event_log to nexus_consumer`, "rights on column core.event_log.payload was added"},
		{`grant usage on sequence core.event_id_seq to public`, "rights on sequence core.event_id_seq: public:USAGE"},
		{`alter default privileges for role nexus_owner grant execute on functions to public`, "rights on new functions of nexus_owner: public:EXECUTE"},
		{`alter default privileges for role nexus_owner in schema core grant select on tables to nexus_sql`, "rights on new objects of nexus_owner in core (r) was added"},
		{`grant usage on schema core_private to nexus_reader`, "rights on schema core_private: nexus_reader:USAGE"},
		{`alter table pgmq.q_core_events_shop disable row level security`, "row security of pgmq.q_core_events_shop is off"},
		{`alter policy nexus_read on pgmq.a_core_events_shop using (true)`, "policies of pgmq.a_core_events_shop are not as they were made"},
		{`drop policy nexus_change on pgmq.q_core_events_till_dlq`, "policies of pgmq.q_core_events_till_dlq are not as they were made"},
		{`create policy open on pgmq.q_core_events_shop using (true)`, "policy open on pgmq.q_core_events_shop was added"},
		{`do $$ declare t regclass; begin for t in select polrelid::regclass from pg_policy where polname = 'nexus_read' and polrelid::regclass::text like 'pgmq%' loop
			execute format('alter policy nexus_read on %s using (true)', t); end loop; end $$`, "policies of pgmq.q_core_events_shop are not as they were made"},
		{`drop trigger wake_for_delayed on core.delayed`, "trigger wake_for_delayed on core.delayed is gone"},
		{`grant insert on pgmq.q_core_events_shop to nexus_producer`, "rights on pgmq.q_core_events_shop are not as they were given"},
		{`grant delete on pgmq.q_core_events_vault to nexus_operator`, "rights on pgmq.q_core_events_vault are not as they were given"},
		{`revoke insert on pgmq.q_core_events_vault from keeper`, "rights on pgmq.q_core_events_vault are not as they were given"},
		{`grant select on pgmq.q_core_events_shop to public`, "rights on pgmq.q_core_events_shop are not as they were given"},
		{`drop index core.event_log_namespace_type_idx`, "index event_log_namespace_type_idx on core.event_log is gone"},
		{`create unique index one on core.event_keys (namespace)`, "index one on core.event_keys was added"},
		{`alter table core.event_log add constraint never check (event_type <> 'never')`, "constraint never on core.event_log was added"},
		{`alter table core.nodes add column theirs text not null`, "column theirs of core.nodes was added"},
		{`alter table core.dead_letters alter column dead_letter_id drop identity`, "column dead_letter_id of core.dead_letters: not null, before not null generated always as identity"},
		{`alter table core.event_log alter column payload drop not null`, "column payload of core.event_log: null, before not null"},
		{`alter table core.namespaces alter column retry set default '{"max_attempts": 1}', alter column metadata drop default`, "column metadata of core.namespaces: not null, before not null default '{}'"},
		{`alter table core.nodes drop constraint nodes_pkey cascade`, "constraint nodes_pkey on core.nodes is gone"},
		{`alter table core.namespaces drop constraint namespaces_pkey cascade`, "foreign key queues_namespace_fkey on core.queues is gone"},
		{`delete from core_private.sweeps where name in ('park', 'promote')`, "sweep park is gone"},
		{`update core_private.sweeps set function = 'core.tick()' where name = 'reap'`, "sweep reap runs core.tick(), before core_node.reap_nodes()"},
		{`alter table pgmq.q_core_events_shop owner to postgres`, "table pgmq.q_core_events_shop belongs to postgres"},
	} {
		if leftOut(i) {
			continue
		}
		t.Run(c.harm, func(t *testing.T) {
			execute(t, address, c.harm)
			report, err := Status(t.Context(), pool)
			if err != nil || !slices.ContainsFunc(report.Unsafe, func(line string) bool { return strings.HasPrefix(line, c.seen) }) {
				t.Errorf("status does not say %q: %q, %v", c.seen, report.Unsafe, err)
			}
			if len(report.Applied) == 0 {
				t.Error("nothing is to be applied")
			}
			if strings.Contains(c.harm, "owner to somebody") {
				_, err := up(t.Context(), pool, nil, embedded())
				refused := wantCode(t, err, nexus.CodeNotTrusted)
				if !strings.Contains(refused.Message, "core.event_log belongs to somebody") {
					t.Errorf("it names %q", refused.Message)
				}
				mustUp(t, pool, &Options{Trust: []string{"somebody"}}, embedded())
			}
			report = mustUp(t, pool, nil, embedded())
			if len(report.Unsafe) > 0 {
				t.Errorf("after up there is still %q", report.Unsafe)
			}
			if after := value[string](t, pool, whole); after != before {
				t.Errorf("it is not as before:\n%s", differences(before, after))
			}
		})
	}
}

// leftOut says that with -short, which is for a second server, another run of the week tries the harm of this number: a third each day.
func leftOut(i int) bool { return testing.Short() && i%3 != time.Now().YearDay()%3 }

// What was in a table that was dropped is in backups only: none is made in its place, and it is named.
func TestADroppedTableIsNamed(t *testing.T) {
	t.Parallel()
	address := installed(t)
	pool := connect(t, address)
	execute(t, address, "alter table core.nodes drop column metadata cascade")
	report, err := Status(t.Context(), pool)
	if err != nil || !slices.Equal(report.Gone, []string{"column metadata of core.nodes"}) {
		t.Errorf("status does not name the column: %q, %v", report.Gone, err)
	}
	_, err = up(t.Context(), pool, nil, embedded())
	if refused := wantCode(t, err, nexus.CodeNotTrusted); !strings.Contains(refused.Hint, "--table nodes)") {
		t.Errorf("the column: %v, %s", refused, refused.Hint)
	}
	for _, name := range []string{"core.delivery_errors", "core_private.sweeps", "core.queues", "core.namespaces"} {
		execute(t, address, "drop table "+name+" cascade")
		report, err := Status(t.Context(), pool)
		if err != nil || !slices.Contains(report.Gone, "table "+name) {
			t.Errorf("status does not name %s: %q, %v", name, report.Gone, err)
		}
		_, err = up(t.Context(), pool, &Options{Repair: true}, embedded())
		refused := wantCode(t, err, nexus.CodeNotTrusted)
		if !strings.Contains(refused.Message, "table "+name+" was dropped") || !strings.Contains(refused.Hint, "pg_restore") {
			t.Errorf("%s: %v, %s", name, refused, refused.Hint)
		}
	}
}

// What is asked beside somebody who is not trusted calls no function that he could have put there.
func TestTheTextCallsNothing(t *testing.T) {
	t.Parallel()
	text := regexp.MustCompile(`'[^']*'`).ReplaceAllString(guardDriftText(), "''")
	if calls := regexp.MustCompile(`\bcore(_private)?\.\w+ *\(`).FindAllString(text, -1); len(calls) > 0 {
		t.Errorf("it calls %q", calls)
	}
}

// What an administrator added and what opens nothing is named, and stays.
// holds: I3-kept
func TestWhatOthersAddedStays(t *testing.T) {
	address := installed(t)
	pool := connect(t, address)
	execute(t, address, `create function public.note() returns trigger language plpgsql as 'begin return null; end';
		create trigger theirs after insert on core.namespaces execute function public.note();
		create policy narrow on core.event_log as restrictive using (true);
		create view core.theirs as select 1 as n; create function core.their_own() returns integer language sql as 'select 1'`)
	// New in the schemas, they make the grants be given anew, of which none is theirs.
	mustUp(t, pool, nil, embedded())
	for range 2 {
		report, err := Status(t.Context(), pool)
		if err != nil || len(report.Unsafe)+len(report.Applied) > 0 {
			t.Errorf("%+v, %v", report, err)
		}
		for _, name := range []string{"trigger theirs on core.namespaces", "policy narrow on core.event_log", "core.theirs", "core.their_own()"} {
			if !slices.Contains(report.Orphans, name) {
				t.Errorf("%s is not named: %q", name, report.Orphans)
			}
		}
		mustUp(t, pool, &Options{Repair: true}, embedded())
	}
	if value[bool](t, pool, `select has_table_privilege('nexus_reader', 'core.theirs', 'select')`) {
		t.Error("readers were let in to somebody's view")
	}
	if n := value[int](t, pool, `select (select count(*) from pg_trigger where tgname = 'theirs') + (select count(*) from pg_policy where polname = 'narrow')`); n != 2 {
		t.Errorf("%d of the two are left", n)
	}
}

// differences are the lines that only one of the two has.
func differences(before, after string) string {
	var lines []string
	had, have := strings.Split(before, "\n"), strings.Split(after, "\n")
	for _, l := range had {
		if !slices.Contains(have, l) {
			lines = append(lines, "- "+l)
		}
	}
	for _, l := range have {
		if !slices.Contains(had, l) {
			lines = append(lines, "+ "+l)
		}
	}
	return strings.Join(lines, "\n")
}

// A hostile login with CREATE on the database was there first. The installer says what it found and how to mend it, and runs none of it:
// by its function, its script or its plan.
// holds: I1-trust
func TestWhatAStrangerPutThereIsRefused(t *testing.T) {
	c := newCluster(t)
	execute(t, c.URL("postgres"), `create role mallory login password 'secret'`)
	// What of theirs has a name of Nexus's meets the files; the rest is met before any file is read.
	for _, a := range []struct {
		name, as, admin, what string
		files                 bool
	}{
		{name: "schema core", as: `create schema core; create function core.emit(text, text, jsonb, jsonb) returns text language sql as 'select 1'`, what: "the schema core belongs to mallory", files: true},
		{name: "schema pgmq", as: `create schema pgmq; create function pgmq.create(text) returns void language sql as ''`, what: "the schema pgmq belongs to mallory"},
		{name: "schema partman", as: `create schema partman; create function partman.now() returns text language sql as 'select 1'`, what: "the schema partman belongs to mallory"},
		{name: "planted functions", admin: `create schema core authorization postgres; grant create, usage on schema core to mallory`,
			as: `create function core.is_event_type(text) returns boolean language sql as 'select true'`, what: "the function core.is_event_type(pg_catalog.text) belongs to mallory", files: true},
		{name: "planted tables", admin: `create schema core_private authorization postgres; grant create, usage on schema core_private to mallory`,
			as: `create table core_private.schema_migrations (version int, name text, sha256 text, applied_by text)`, what: "the table core_private.schema_migrations belongs to mallory", files: true},
		{name: "pgmq of theirs", as: `create extension if not exists pgmq`, what: "belongs to mallory"},
		{name: "create on pgmq", admin: `create schema pgmq; create extension pgmq schema pgmq; grant create on schema pgmq to mallory`, what: "mallory may create in the schema pgmq"},
		{name: "create for everybody", admin: `create schema core; grant create on schema core to public`, what: "everybody may create in the schema core"},
	} {
		t.Run(a.name, func(t *testing.T) {
			database := newDatabase(t, c)
			address := c.URL(database)
			execute(t, c.URL("postgres"), "grant create on database "+database+" to mallory")
			if a.admin != "" {
				execute(t, address, a.admin)
			}
			if a.as != "" {
				mallory := connect(t, as(t, address, "mallory", "secret"))
				var refused *pgconn.PgError
				if _, err := mallory.Exec(t.Context(), a.as); errors.As(err, &refused) && refused.Code == "42501" {
					t.Skipf("this server gives strangers no such right: %v", err)
				} else if err != nil {
					t.Fatal(err)
				}
			}
			super := connect(t, address)
			want := sample()
			if a.files {
				want = embedded()
			}
			refuseAndMend(t, super, address, a.what, want)
		})
	}
}

// An application's own schema core is neither dropped, nor taken over, nor installed into, whoever it and what is in it belong to: the
// hints give it another name. The first of them finds none of the roles of Nexus, the others do.
// holds: I1-foreign-core
func TestASchemaCoreOfAnApplicationIsKept(t *testing.T) {
	c := newCluster(t)
	execute(t, c.URL("postgres"), `create role shop_owner login password 'secret'; create role landlord`)
	for i, a := range []struct{ schemas, tables string }{
		{"shop_owner", "shop_owner"}, {"shop_owner", "shop_owner"}, {"postgres", "postgres"}, {"landlord", "landlord"}, {"postgres", "shop_owner"}, {"landlord", "shop_owner"},
	} {
		t.Run(a.schemas+", tables of "+a.tables, func(t *testing.T) {
			database := newDatabase(t, c)
			address := c.URL(database)
			for _, schema := range []string{"core", "core_private"} {
				execute(t, address, `alter database `+database+` owner to landlord; create schema `+schema+` authorization `+a.schemas+`; grant create on schema `+schema+` to shop_owner;
					create table `+schema+`.orders (id int); insert into `+schema+`.orders values (7); alter table `+schema+`.orders owner to `+a.tables+`;
					create function `+schema+`.now() returns text language sql as 'select 1::text'; alter function `+schema+`.now() owner to `+a.tables)
			}
			super := connect(t, address)
			want, emit := sample(), "core.emit(text)"
			if i == 0 {
				want, emit = embedded(), "core.emit(text, text, jsonb, jsonb)"
			}
			for range 3 {
				_, err := up(t.Context(), super, nil, want)
				if err == nil {
					break
				}
				execute(t, address, mendable(t, err).Hint)
			}
			if got := value[string](t, super, `select format('%s %s %s', (select count(*) from core_of_`+a.schemas+`.orders), (select count(*) from core_private_of_`+a.schemas+`.orders),
				to_regprocedure('`+emit+`') is not null)`); got != "1 1 t" {
				t.Errorf("orders, and installed: %s", got)
			}
		})
	}
}

// Who is trusted once is trusted from then on, also where nothing else is to be done.
func TestWhoIsTrustedIsRemembered(t *testing.T) {
	address := installed(t)
	pool := connect(t, address)
	execute(t, address, `do $$ begin if to_regrole('friend') is null then create role friend; end if; end $$; grant create on schema pgmq to friend`)
	_, err := up(t.Context(), pool, nil, embedded())
	_ = wantCode(t, err, nexus.CodeNotTrusted)
	mustUp(t, pool, &Options{Trust: []string{"friend"}}, embedded())
	report := mustUp(t, pool, nil, embedded())
	if len(report.Distrusted)+len(report.Applied) > 0 {
		t.Errorf("%+v", report)
	}
}

// The same for roles of Nexus's names that were there first.
// holds: I1-trust
func TestRolesThatMayTooMuchAreRefused(t *testing.T) {
	for _, a := range []struct{ name, sql, what string }{
		{"login", `create role nexus_owner login password 'known'`, "the role nexus_owner has LOGIN"},
		{"superuser", `create role nexus_admin superuser`, "the role nexus_admin has SUPERUSER"},
		{"row security", `create role nexus_reader bypassrls createrole`, "the role nexus_reader has CREATEROLE, BYPASSRLS"},
		{"member", `create role nexus_owner; grant nexus_owner to mallory`, "mallory is a member of the role nexus_owner"},
		{"membership", `create role nexus_scheduler login; create role rich; grant rich to nexus_scheduler`, "the role nexus_scheduler is a member of rich"},
		{"of a superuser", `create role nexus_producer; grant postgres to nexus_producer`, "the role nexus_producer is a member of postgres"},
	} {
		t.Run(a.name, func(t *testing.T) {
			c := newCluster(t)
			execute(t, c.URL("postgres"), `create role mallory login password 'secret'`)
			execute(t, c.URL("postgres"), a.sql)
			address := c.URL(newDatabase(t, c))
			refuseAndMend(t, connect(t, address), address, a.what, sample())
		})
	}
}

func refuseAndMend(t *testing.T, super *pgxpool.Pool, address, what string, want schema) {
	t.Helper()
	report, err := status(t.Context(), super, want)
	if err != nil || !strings.Contains(strings.Join(report.Distrusted, "\n"), what) {
		t.Errorf("status does not say it: %q, %v", report.Distrusted, err)
	}
	before := pgDump(t, address)
	_, err = up(t.Context(), super, nil, want)
	refused := wantCode(t, err, nexus.CodeNotTrusted)
	if !strings.Contains(refused.Message, what) {
		t.Errorf("it says %q, want %q", refused.Message, what)
	}
	if err := plan(t.Context(), super, new(bytes.Buffer), nil, want); err == nil {
		t.Error("a plan was made")
	}
	var script bytes.Buffer
	if err := dump(&script, 0, want); err != nil {
		t.Fatal(err)
	}
	_, statements, _ := strings.Cut(script.String(), "\\set ON_ERROR_STOP on\n")
	_, err = super.Exec(t.Context(), statements)
	_ = wantCode(t, wrap("run the script", err), nexus.CodeNotTrusted)
	if after := pgDump(t, address); after != before {
		t.Error("something changed")
	}
	for try := 0; ; try++ {
		execute(t, address, strings.ReplaceAll(refused.Hint, fmt.Sprintf("; -- and create it as %q", "postgres"), ";"))
		_, err := up(t.Context(), super, nil, want)
		if err == nil {
			return
		}
		if try == 5 {
			t.Fatalf("the hints do not mend it: %v", err)
		}
		refused = mendable(t, err)
	}
}

// mendable is an error of the installer whose hint can be run.
func mendable(t *testing.T, err error) *nexus.Error {
	t.Helper()
	for _, code := range []string{nexus.CodeNotTrusted, nexus.CodeInstallerRights} {
		if strings.Contains(err.Error(), code) {
			return wantCode(t, err, code)
		}
	}
	t.Fatalf("no hint for %v", err)
	return nil
}
