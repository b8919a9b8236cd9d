// holds: I2

package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/pgdev"
)

// newCluster starts a cluster that nobody has installed anything in, with a plain login "installer".
func newCluster(t *testing.T) *pgdev.Cluster {
	t.Helper()
	return newClusterWith(t, nil)
}

func newClusterWith(t *testing.T, settings map[string]string) *pgdev.Cluster {
	t.Helper()
	c, err := pgdev.StartForTests(t.Context(), pgdev.Options{Settings: settings}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	execute(t, c.URL("postgres"), `create role installer login password 'secret'`)
	return c
}

// works tries as nexus_owner what the functions of Nexus do with the extensions that are there.
func works(t *testing.T, super *pgxpool.Pool) {
	t.Helper()
	tx, err := super.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	var partman string
	var major int
	if err := tx.QueryRow(t.Context(), `
		select coalesce(max(extnamespace::regnamespace::text), ''), coalesce(max(split_part(extversion, '.', 1)::int), 0)
		  from pg_extension where extname = 'pg_partman'`).Scan(&partman, &major); err != nil {
		t.Fatal(err)
	}
	statements := []string{
		`set local role nexus_owner`,
		`select pgmq.create('rights')`,
		`select pgmq.send('rights', '{}')`,
		`select pgmq.drop_queue('rights')`,
	}
	if partman != "" {
		kind := "range"
		if major < 5 {
			kind = "native"
		}
		statements = append(statements,
			`create table core.parted (at timestamptz not null) partition by range (at)`,
			fmt.Sprintf(`select %s.create_parent(p_parent_table := 'core.parted', p_control := 'at', p_type := '%s', p_interval := '1 month')`, partman, kind),
			fmt.Sprintf(`select %s.run_maintenance('core.parted', p_analyze := false, p_jobmon := false)`, partman),
			fmt.Sprintf(`delete from %s.part_config`, partman))
	}
	for _, sql := range statements {
		if _, err := tx.Exec(t.Context(), sql); err != nil {
			t.Errorf("%s: %v", sql, err)
			return
		}
	}
}

func TestTheOwnerMayWhatItNeeds(t *testing.T) {
	pool := connect(t, cluster.URL(newDatabase(t, cluster)))
	mustUp(t, pool, nil, sample())
	works(t, pool)
}

// holds: others-rights
func TestAPlainRoleInstalls(t *testing.T) {
	c := newCluster(t)
	database := newDatabase(t, c)
	super := connect(t, c.URL(database))
	execute(t, c.URL("postgres"), `alter role installer createrole; grant create on database `+database+` to installer`)
	installer := connect(t, as(t, c.URL(database), "installer", "secret"))
	report := mustUp(t, installer, nil, sample())
	// Newer versions of pg_partman can be created by a plain role.
	partman := value[bool](t, super, `select exists (select from pg_extension where extname = 'pg_partman')`)
	named := slices.ContainsFunc(report.Missing, func(line string) bool {
		return strings.Contains(line, "create extension pg_partman schema partman;")
	})
	if named == partman {
		t.Errorf("pg_partman is there: %v, and named as missing: %q", partman, report.Missing)
	}
	if report := mustUp(t, installer, nil, sample()); len(report.Applied) > 0 {
		t.Errorf("the second run applied %q", report.Applied)
	}
	works(t, super)

	// What others do it may not see, but who they are.
	tx, err := super.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := tx.Exec(t.Context(), `lock table core.namespaces in share mode`); err != nil {
		t.Fatal(err)
	}
	_, err = up(t.Context(), installer, &Options{LockTimeout: 50 * time.Millisecond}, sized())
	if refused := wantCode(t, err, "55P03"); !strings.Contains(refused.Message, fmt.Sprintf("Held by pid %d of role postgres", tx.Conn().PgConn().PID())) ||
		!strings.Contains(refused.Message, "ShareLock on core.namespaces") {
		t.Errorf("it does not name who holds the table: %s", refused.Message)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}

	// What was missing is taken up once the administrator has mended it.
	for _, line := range report.Missing {
		if _, mend, ok := strings.Cut(line, "pg_partman: only a superuser can create it; as a superuser: "); ok {
			execute(t, c.URL(database), mend)
		}
	}
	if _, err := up(t.Context(), installer, nil, sample()); err != nil {
		execute(t, c.URL(database), wantCode(t, err, nexus.CodeInstallerRights).Hint)
	}
	mustUp(t, installer, nil, sample())
	works(t, super)
}

// holds: others-rights
func TestEachMissingRightIsNamedBeforeAnythingChanges(t *testing.T) {
	c := newCluster(t)
	address := c.URL(pgdev.TestCronDatabase)
	super := connect(t, address)
	execute(t, address, `create extension pgmq; create schema elsewhere; create extension pg_partman schema elsewhere; create extension pg_cron;
		revoke all on database nexus_cron from public; grant connect, temporary on database nexus_cron to public`)
	installer := connect(t, as(t, address, "installer", "secret"))
	before := pgDump(t, address)

	report, err := up(t.Context(), installer, nil, sample())
	refused := wantCode(t, err, nexus.CodeInstallerRights)
	for _, line := range []string{
		`alter role "installer" createrole;`,
		`grant create on database "nexus_cron" to "installer";`,
		`grant usage, create on schema pgmq to installer with grant option;`,
		`grant usage, create on schema elsewhere to installer with grant option;`,
		`on table elsewhere.part_config to installer with grant option;`,
	} {
		if !strings.Contains(refused.Hint, line) {
			t.Errorf("the hint lacks %s\n%s", line, refused.Hint)
		}
	}
	if after := pgDump(t, address); after != before {
		t.Error("something changed although rights were missing")
	}
	if value[bool](t, super, `select exists (select from pg_roles where rolname like 'nexus%')`) {
		t.Error("roles were created although rights were missing")
	}

	execute(t, address, refused.Hint)
	for _, line := range report.Missing {
		if mend, ok := strings.CutPrefix(line, "right: "); ok {
			execute(t, address, mend)
		}
	}
	report = mustUp(t, installer, nil, sample())
	if len(report.Missing) > 0 {
		t.Errorf("still missing: %q", report.Missing)
	}
	works(t, super)
	execute(t, address, `select core_private.schedule_jobs()`)
	if got := value[string](t, super, `select username from cron.job where jobname = 'nexus:tick'`); got != "nexus_scheduler" {
		t.Errorf("the job belongs to %s", got)
	}

	// A second installer that is a member of nothing is told so too.
	execute(t, address, `create role stranger login password 'secret'`)
	stranger := connect(t, as(t, address, "stranger", "secret"))
	if _, err := status(t.Context(), stranger, sample()); wantCode(t, err, nexus.CodeInstallerRights).Hint != `grant nexus_owner to "stranger";` {
		t.Errorf("got %v", err)
	}
	_, err = up(t.Context(), stranger, nil, sample())
	if refused := wantCode(t, err, nexus.CodeInstallerRights); !strings.Contains(refused.Hint, `grant nexus_owner, nexus_scheduler, nexus_guard to "stranger"`) {
		t.Errorf("the hint lacks the membership\n%s", refused.Hint)
	} else {
		execute(t, address, refused.Hint)
	}
	if report := mustUp(t, stranger, nil, sample()); len(report.Applied) > 0 {
		t.Errorf("the stranger applied %q", report.Applied)
	}
}

func TestPgmqFromItsSQL(t *testing.T) {
	// A server that has no extension pgmq, as far as the installer can see.
	hidden := sample()
	hidden.extensions = strings.Replace(extensionsSQL, "on a.name = w.name", "on a.name = w.name and a.name <> 'pgmq'", 1)

	t.Run("missing", func(t *testing.T) {
		pool := connect(t, cluster.URL(newDatabase(t, cluster)))
		_, err := up(t.Context(), pool, nil, hidden)
		if refused := wantCode(t, err, nexus.CodeExtension); !strings.Contains(refused.Hint, "--pgmq-sql") {
			t.Errorf("the hint does not name the way out: %s", refused.Hint)
		}
		if value[bool](t, pool, `select to_regnamespace('core') is not null`) {
			t.Error("something was installed")
		}
	})
	t.Run("given", func(t *testing.T) {
		pool := connect(t, cluster.URL(newDatabase(t, cluster)))
		report := mustUp(t, pool, &Options{PgmqSQL: strings.NewReader(pgmqSQL(t))}, hidden)
		if !slices.Contains(report.Applied, "pgmq from its SQL") {
			t.Errorf("applied %q", report.Applied)
		}
		if report := mustUp(t, pool, nil, hidden); len(report.Applied) > 0 {
			t.Errorf("the second run applied %q", report.Applied)
		}
		works(t, pool)
	})
	t.Run("there already", func(t *testing.T) {
		address := cluster.URL(newDatabase(t, cluster))
		execute(t, address, pgmqSQL(t))
		pool := connect(t, address)
		mustUp(t, pool, nil, sample())
		if value[bool](t, pool, `select exists (select from pg_extension where extname = 'pgmq')`) {
			t.Error("the extension was created over the installation from SQL")
		}
		works(t, pool)
	})
	t.Run("too old", func(t *testing.T) {
		address := cluster.URL(newDatabase(t, cluster))
		execute(t, address, pgmqSQL(t)+`; drop function pgmq.send_topic(text, jsonb, jsonb, integer)`)
		_, err := up(t.Context(), connect(t, address), nil, sample())
		if refused := wantCode(t, err, nexus.CodeExtension); refused.Hint != "alter extension pgmq update;" {
			t.Errorf("hint %q", refused.Hint)
		}
	})
	t.Run("too old, given", func(t *testing.T) {
		pool := connect(t, cluster.URL(newDatabase(t, cluster)))
		text := pgmqSQL(t) + `; drop function pgmq.send_topic(text, jsonb, jsonb, integer)`
		_, err := up(t.Context(), pool, &Options{PgmqSQL: strings.NewReader(text)}, hidden)
		_ = wantCode(t, err, nexus.CodeExtension)
		if value[bool](t, pool, `select to_regnamespace('pgmq') is not null`) {
			t.Error("it stayed behind")
		}
	})
	t.Run("with a commit", func(t *testing.T) {
		pool := connect(t, cluster.URL(newDatabase(t, cluster)))
		_, err := up(t.Context(), pool, &Options{PgmqSQL: strings.NewReader("create schema pgmq;\ncommit;\n")}, hidden)
		_ = wantCode(t, err, nexus.CodeExtension)
		if value[bool](t, pool, `select to_regnamespace('pgmq') is not null`) {
			t.Error("it was run")
		}
	})
}
