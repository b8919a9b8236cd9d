// holds: I1

package migrate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	nexussql "github.com/nexuspg/nexus/sql"
)

func mustUp(t *testing.T, pool *pgxpool.Pool, opts *Options, want schema) *Report {
	t.Helper()
	report, err := up(t.Context(), pool, opts, want)
	if err != nil {
		t.Fatalf("up: %v", err)
	}
	return report
}

func wantCode(t *testing.T, err error, code string) *nexus.Error {
	t.Helper()
	var refused *nexus.Error
	if !errors.As(err, &refused) || refused.Code != code {
		t.Fatalf("got error %v, want one with code %s", err, code)
	}
	return refused
}

func TestTheEmbeddedSchemaInstallsTwice(t *testing.T) {
	address := cluster.URL(newDatabase(t, cluster))
	pool := connect(t, address)
	first, err := Up(t.Context(), pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	if first.Version != first.Want || len(first.Applied) == 0 || len(first.Drift) > 0 || len(first.Orphans) > 0 {
		t.Errorf("first run reports %+v", first)
	}
	before := dumpOf(t, address)
	second, err := Up(t.Context(), pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(second.Applied) > 0 {
		t.Errorf("the second run applied %q", second.Applied)
	}
	if diff := cmp.Diff(before, dumpOf(t, address)); diff != "" {
		t.Errorf("the second run changed the database:\n%s", diff)
	}
}

func TestTwoFreshInstallationsAreEqual(t *testing.T) {
	var dumps []string
	for range 2 {
		address := cluster.URL(newDatabase(t, cluster))
		mustUp(t, connect(t, address), nil, embedded())
		dumps = append(dumps, dumpOf(t, address))
	}
	if diff := cmp.Diff(dumps[0], dumps[1]); diff != "" {
		t.Error(diff)
	}
}

func TestUpInstallsAllKindsAndReportsThem(t *testing.T) {
	pool := connect(t, cluster.URL(newDatabase(t, cluster)))
	want := sample()
	report := mustUp(t, pool, nil, want)
	for _, path := range append(want.paths(), "migrations/0001_create_namespaces.sql", "migrations/0002_add_color.sql") {
		if path != want.roles.Path && !slices.Contains(report.Applied, path) {
			t.Errorf("%s is not among what was applied: %q", path, report.Applied)
		}
	}
	if report.Version != 2 || report.Want != 2 {
		t.Errorf("version %d of %d, want 2 of 2", report.Version, report.Want)
	}
	if got := value[string](t, pool, `select namespace from core.namespaces`); got != "made by after_install" {
		t.Errorf("after_install was not called: %q", got)
	}
	if got := value[string](t, pool, `select proowner::regrole::text from pg_proc where proname = 'schedule_jobs'`); got != "nexus_scheduler" {
		t.Errorf("the directive's owner: got %s", got)
	}
	for _, schema := range []string{"core", "core_private"} {
		if value[bool](t, pool, fmt.Sprintf(`select has_schema_privilege('nexus_scheduler', '%s', 'create')`, schema)) {
			t.Errorf("nexus_scheduler may still create in %s", schema)
		}
	}
}

func TestGrantsAreAsListedAndMended(t *testing.T) {
	address := cluster.URL(newDatabase(t, cluster))
	pool := connect(t, address)
	mustUp(t, pool, nil, sample())
	check := func() {
		t.Helper()
		for _, c := range []struct {
			role, function string
			may            bool
		}{
			{"nexus_producer", "core.emit(text)", true},
			{"nexus_admin", "core.emit(text)", true},
			{"nexus_consumer", "core.emit(text)", false},
			{"nexus_sql", "core.emit(text)", false},
			{"public", "core.emit(text)", false},
			{"public", "core_private.now()", false},
			{"public", "core_private.schedule_jobs()", false},
			{"nexus_owner", "core_private.schedule_jobs()", true},
			{"nexus_producer", "core_private.now()", false},
		} {
			if got := value[bool](t, pool, fmt.Sprintf(`select has_function_privilege('%s', '%s', 'execute')`, c.role, c.function)); got != c.may {
				t.Errorf("%s may execute %s: %v, want %v", c.role, c.function, got, c.may)
			}
		}
		for relation, may := range map[string]bool{"core.namespaces": true, "core.names": true, "core_private.schema_migrations": false} {
			if got := value[bool](t, pool, fmt.Sprintf(`select has_table_privilege('nexus_operator', '%s', 'select')`, relation)); got != may {
				t.Errorf("nexus_operator may read %s: %v, want %v", relation, got, may)
			}
		}
	}
	check()
	execute(t, address, `
		grant execute on function core.emit(text) to public, nexus_consumer;
		revoke execute on function core.emit(text) from nexus_producer;
		grant all on core_private.schema_migrations to nexus_reader;
		revoke select on core.names from nexus_reader;
		create role grantee_of_the_dba;
		grant execute on function core.emit(text) to grantee_of_the_dba`)
	report := mustUp(t, pool, nil, sample())
	if !slices.Contains(report.Applied, "roles/grants.sql") {
		t.Errorf("changed grants were not seen: applied %q", report.Applied)
	}
	check()
	if !value[bool](t, pool, `select has_function_privilege('grantee_of_the_dba', 'core.emit(text)', 'execute')`) {
		t.Error("a grant to a role of the administrator's own was taken away")
	}
	if report := mustUp(t, pool, nil, sample()); len(report.Applied) > 0 {
		t.Errorf("applied again: %q", report.Applied)
	}
}

// holds: others-first-use (the installer)
func TestNothingIsLockedWhenNothingChanged(t *testing.T) {
	address := cluster.URL(newDatabase(t, cluster))
	pool := connect(t, address)
	mustUp(t, pool, nil, sample())

	// The strongest lock that a reader gets along with, on everything there is.
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := tx.Exec(t.Context(), `
		do $$
		declare v_table regclass;
		begin
		  for v_table in select oid from pg_class where relkind in ('r', 'p') and relnamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace) loop
		    execute format('lock table %s in exclusive mode', v_table);
		  end loop;
		end $$;
		lock table pg_catalog.pg_proc, pg_catalog.pg_class, pg_catalog.pg_authid, pg_catalog.pg_namespace in exclusive mode`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	report, err := up(ctx, pool, nil, sample())
	if err != nil {
		t.Fatalf("up waited for a lock although nothing had changed: %v", err)
	}
	if len(report.Applied) > 0 {
		t.Errorf("applied %q", report.Applied)
	}
}

// holds: others-boot
func TestManyInstallersOnNewDatabasesOfANewCluster(t *testing.T) {
	fresh := newCluster(t)
	var pools []*pgxpool.Pool
	for range 2 {
		address := fresh.URL(newDatabase(t, fresh))
		for range 12 {
			pools = append(pools, connect(t, address))
		}
	}
	var work sync.WaitGroup
	workers := make([]int, len(pools))
	for i, pool := range pools {
		work.Go(func() {
			report, err := Up(t.Context(), pool, nil)
			if err != nil {
				t.Errorf("installer %d: %v", i, err)
				return
			}
			if report.Version != report.Want {
				t.Errorf("installer %d left version %d, want %d", i, report.Version, report.Want)
			}
			workers[i] = len(report.Applied)
		})
	}
	work.Wait()
	for d := range 2 {
		worked := 0
		for _, applied := range workers[12*d : 12*d+12] {
			if applied > 0 {
				worked++
			}
		}
		if worked != 1 {
			t.Errorf("%d installers of database %d applied something, want 1", worked, d)
		}
	}
}

// killer ends the connection just before its nth statement after a BEGIN for writing.
type killer struct {
	admin *pgxpool.Pool
	left  int
	armed bool
}

func (k *killer) TraceQueryStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.HasPrefix(data.SQL, "begin") {
		k.armed = strings.Contains(data.SQL, "read write")
	}
	if !k.armed {
		return ctx
	}
	k.left--
	if k.left == 0 {
		_, _ = k.admin.Exec(context.Background(), `select pg_terminate_backend($1, 10000)`, conn.PgConn().PID())
	}
	return ctx
}

func (k *killer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// holds: others-boot
func TestKilledAnywhereLeavesWhatWasThere(t *testing.T) {
	admin := connect(t, cluster.URL("postgres"))
	address := cluster.URL(newDatabase(t, cluster))
	empty := pgDump(t, address)
	for statement := 1; ; statement += 5 {
		config, err := pgxpool.ParseConfig(address)
		if err != nil {
			t.Fatal(err)
		}
		k := &killer{admin: admin, left: statement}
		config.ConnConfig.Tracer = k
		pool := connectConfig(t, config)
		_, err = up(t.Context(), pool, nil, sample())
		pool.Close()
		if k.left > 0 {
			if err != nil {
				t.Fatalf("not killed and failed: %v", err)
			}
			if statement < 30 {
				t.Errorf("only %d statements, so hardly any place was tried", statement)
			}
			break
		}
		if err == nil {
			t.Fatalf("killed at statement %d and no error", statement)
		}
		after := pgDump(t, address)
		if diff := cmp.Diff(empty, after); diff != "" {
			t.Fatalf("killed at statement %d it left:\n%s", statement, diff)
		}
	}
	report, err := status(t.Context(), connect(t, address), sample())
	if err != nil || len(report.Applied) > 0 || report.Version != 2 {
		t.Errorf("the run after the killed ones is not complete: %+v, %v", report, err)
	}
}

func TestAnUpgradeAppliesWhatIsNew(t *testing.T) {
	pool := connect(t, cluster.URL(newDatabase(t, cluster)))
	old := sample()
	old.migrations = old.migrations[:1]
	mustUp(t, pool, nil, old)

	changed := sample()
	changed.functions = replace(changed.functions, "functions/event/emit.sql",
		`create or replace function core.emit(p_namespace text) returns bigint language sql as $$ select 2::bigint $$;`)
	only := old
	only.functions = changed.functions
	report := mustUp(t, pool, nil, only)
	if diff := cmp.Diff([]string{"functions/event/emit.sql", "roles/grants.sql"}, report.Applied); diff != "" {
		t.Errorf("a changed function: applied (-want +got)\n%s", diff)
	}
	if got := value[int](t, pool, `select core.emit('a')`); got != 2 {
		t.Errorf("the old function answers: %d", got)
	}

	report = mustUp(t, pool, nil, changed)
	if report.Version != 2 || !slices.Contains(report.Applied, "migrations/0002_add_color.sql") || slices.Contains(report.Applied, "migrations/0001_create_namespaces.sql") {
		t.Errorf("upgrade reports %+v", report)
	}
}

func TestANewerSchemaIsRefused(t *testing.T) {
	pool := connect(t, cluster.URL(newDatabase(t, cluster)))
	mustUp(t, pool, nil, sample())
	older := sample()
	older.migrations = older.migrations[:1]
	report, err := up(t.Context(), pool, nil, older)
	if refused := wantCode(t, err, nexus.CodeSchemaNewer); !errors.Is(refused, nexus.ErrSchema) {
		t.Errorf("%v is not of the family of the schema", refused)
	}
	if report.Version != 2 || report.Want != 1 {
		t.Errorf("report says version %d, want %d", report.Version, report.Want)
	}
}

func TestAnEditedMigrationIsRefused(t *testing.T) {
	pool := connect(t, cluster.URL(newDatabase(t, cluster)))
	mustUp(t, pool, nil, sample())
	edited := sample()
	edited.migrations = replace(edited.migrations, "migrations/0002_add_color.sql", `alter table core.namespaces add column colour text;`)
	_, err := up(t.Context(), pool, nil, edited)
	_ = wantCode(t, err, nexus.CodeMigrationEdited)

	reformatted := sample()
	reformatted.migrations = replace(reformatted.migrations, "migrations/0002_add_color.sql", "alter table core.namespaces add column color text;  \r\n\r\n")
	mustUp(t, pool, nil, reformatted)
}

func TestAnEditedFunctionIsDrift(t *testing.T) {
	address := cluster.URL(newDatabase(t, cluster))
	pool := connect(t, address)
	mustUp(t, pool, nil, sample())
	execute(t, address, `
		create or replace function core.emit(p_namespace text) returns bigint language sql as $$ select 7::bigint $$;
		create or replace function core_private.now() returns timestamptz language sql as $$ select now() $$;
		create or replace view core.short_names as select * from core.names where length(namespace) < 9;
		insert into core_private.tolerated_drift values ('core_private.now()', 'a test sets the clock')`)
	report, err := status(t.Context(), pool, sample())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"core.emit(text) was edited in the database (functions/event/emit.sql)",
		"core.short_names was edited in the database (views/20_short_names.sql)",
	}
	if diff := cmp.Diff(want, report.Drift); diff != "" {
		t.Errorf("drift (-want +got)\n%s", diff)
	}

	// It is shown and left alone, until repair is asked for.
	mustUp(t, pool, nil, sample())
	if got := value[int](t, pool, `select core.emit('a')`); got != 7 {
		t.Errorf("the edited function was overwritten: %d", got)
	}
	if report := mustUp(t, pool, &Options{Repair: true}, sample()); len(report.Drift) > 0 {
		t.Errorf("drift after the repair: %q", report.Drift)
	}
	if got := value[int](t, pool, `select core.emit('a')`); got != 1 {
		t.Errorf("the function was not repaired: %d", got)
	}
}

func TestADroppedFunctionComesBack(t *testing.T) {
	address := cluster.URL(newDatabase(t, cluster))
	pool := connect(t, address)
	mustUp(t, pool, nil, sample())
	execute(t, address, `drop function core.emit(text)`)
	report := mustUp(t, pool, nil, sample())
	if !slices.Contains(report.Applied, "functions/event/emit.sql") || len(report.Drift) > 0 {
		t.Errorf("report %+v", report)
	}
	value[int](t, pool, `select core.emit('a')::int`)
}

// holds: I1-upgrade
func TestWhatNoFileCreatesAnyMoreIsDropped(t *testing.T) {
	pool := connect(t, cluster.URL(newDatabase(t, cluster)))
	mustUp(t, pool, nil, sample())
	fewer := sample()
	fewer.functions = fewer.functions[1:]
	const there = `select coalesce(array_agg(oid::regprocedure::text order by 1), '{}') from pg_proc where proname = 'emit' and pronamespace = 'core'::regnamespace`
	report := mustUp(t, pool, nil, fewer)
	if !slices.Contains(report.Applied, "drop core.emit(text)") || len(report.Orphans) > 0 || len(value[[]string](t, pool, there)) > 0 {
		t.Errorf("the file is gone: %+v", report)
	}

	// The same for an overload that a file no longer creates.
	mustUp(t, pool, nil, sample())
	other := sample()
	other.functions = replace(other.functions, "functions/event/emit.sql",
		`create or replace function core.emit(p_namespace text, p_type text) returns bigint language sql as $$ select 2::bigint $$;
comment on function core.emit(text, text) is 'another';`)
	report = mustUp(t, pool, nil, other)
	if diff := cmp.Diff([]string{"core.emit(text,text)"}, value[[]string](t, pool, there)); diff != "" || len(report.Orphans) > 0 {
		t.Errorf("the arguments changed: %+v\n%s", report, diff)
	}
	if !slices.Contains(report.Applied, "drop core.emit(text)") {
		t.Errorf("it was not said: %q", report.Applied)
	}

	// What differs on purpose stays.
	execute(t, pool.Config().ConnString(), `insert into core_private.tolerated_drift values ('core.emit(text, text)', 'kept')`)
	report = mustUp(t, pool, nil, fewer)
	if diff := cmp.Diff([]string{"core.emit(text,text)"}, value[[]string](t, pool, there)); diff != "" || len(report.Orphans) > 0 {
		t.Errorf("tolerated, and dropped: %+v\n%s", report, diff)
	}
}

func TestTwoFilesForOneFunctionAreRefused(t *testing.T) {
	pool := connect(t, cluster.URL(newDatabase(t, cluster)))
	twice := sample()
	twice.functions = append(twice.functions, nexussql.NewFile("functions/event/emit_again.sql",
		`create or replace function core.emit(p_namespace text) returns bigint language sql as $$ select 2::bigint $$;`))
	_, err := up(t.Context(), pool, nil, twice)
	if err == nil || !strings.Contains(err.Error(), "emit_again.sql") {
		t.Errorf("got %v, want an error that names the second file", err)
	}
}

func TestAFaultNamesFileAndLine(t *testing.T) {
	pool := connect(t, cluster.URL(newDatabase(t, cluster)))
	broken := sample()
	broken.functions = append(broken.functions, nexussql.NewFile("functions/event/broken.sql", "-- prose\n\nselect nonsense;\n"))
	_, err := up(t.Context(), pool, nil, broken)
	if refused := wantCode(t, err, "42703"); !strings.HasPrefix(refused.Message, "functions/event/broken.sql:3: ") {
		t.Errorf("got %q", refused.Message)
	}
	if value[bool](t, pool, `select to_regnamespace('core') is not null`) {
		t.Error("something stayed behind")
	}
}

// holds: others-boot
func TestWaitingIsToldAndBounded(t *testing.T) {
	pool := connect(t, cluster.URL(newDatabase(t, cluster)))
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := tx.Exec(t.Context(), `select pg_advisory_xact_lock($1, $2)`, lockClass, lockObject); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	_, err = up(t.Context(), pool, &Options{Wait: 50 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil))}, sample())
	refused := wantCode(t, err, "55P03")
	holder := fmt.Sprintf("pid %d of role postgres", tx.Conn().PgConn().PID())
	if !strings.Contains(refused.Message, holder) || !strings.Contains(log.String(), holder) {
		t.Errorf("neither error nor log may keep quiet about %s: %v\n%s", holder, refused, log.String())
	}
	if end := fmt.Sprintf("select pg_terminate_backend(%d);", tx.Conn().PgConn().PID()); !strings.Contains(refused.Hint, end) {
		t.Errorf("the hint is %q, without %s", refused.Hint, end)
	}
}

// sized is the sample with a migration that locks a table which is there.
func sized() schema {
	want := sample()
	want.migrations = append(slices.Clone(want.migrations), nexussql.NewFile("migrations/0003_add_size.sql", `alter table core.namespaces add column size integer;`))
	return want
}

// Whoever holds a table is named, with what it does and since when, and the line that ends it is the mend. Who comes and goes meanwhile is not.
func TestWhoHoldsATableIsNamed(t *testing.T) {
	c := newClusterWith(t, map[string]string{"max_prepared_transactions": "1"})
	address := c.URL(newDatabase(t, c))
	pool := connect(t, address)
	want := sized()
	mustUp(t, pool, nil, sample())
	user, err := pgxpool.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	user.ConnConfig.RuntimeParams["application_name"] = "nightly 'report'"
	tx, err := connectConfig(t, user).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := tx.Exec(t.Context(), "select count(*)\n  from core.namespaces"); err != nil {
		t.Fatal(err)
	}
	pid := tx.Conn().PgConn().PID()
	_, err = up(t.Context(), pool, &Options{LockTimeout: 50 * time.Millisecond}, want)
	refused := wantCode(t, err, "55P03")
	for _, part := range []string{
		"the tables that change: a lock did not come within 50ms. Held by ", fmt.Sprintf("pid %d of role postgres, application 'nightly ''report''', idle in transaction, in its transaction since 20", pid),
		"holds AccessShareLock on core.namespaces; its statement: select count(*) from core.namespaces",
	} {
		if !strings.Contains(refused.Message, part) {
			t.Errorf("the error does not say %q: %s", part, refused.Message)
		}
	}
	if want := fmt.Sprintf("Let it end, or end it: select pg_terminate_backend(%d); Then run this again.", pid); refused.Hint != want {
		t.Errorf("the hint is %q, want %q", refused.Hint, want)
	}

	if _, err := tx.Exec(t.Context(), "prepare transaction 'left''behind'"); err != nil {
		t.Fatal(err)
	}
	_, err = up(t.Context(), pool, &Options{LockTimeout: 50 * time.Millisecond}, want)
	refused = wantCode(t, err, "55P03")
	if !strings.Contains(refused.Message, "Held by prepared transaction 'left''behind' of role postgres, in its transaction since 20") {
		t.Errorf("the error says %s", refused.Message)
	}
	_, mend, _ := strings.Cut(refused.Hint, "end it: ")
	mend, _, _ = strings.Cut(mend, " Then")
	if _, err := pool.Exec(t.Context(), mend); err != nil {
		t.Fatal(err)
	}
	mustUp(t, pool, nil, want)
}
