package migrate

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/nexuspg/nexus/internal/pgdev"
	nexussql "github.com/nexuspg/nexus/sql"
)

// cluster is shared by the tests of this package; each has a database of its own. Roles are shared too.
var cluster *pgdev.Cluster

func TestMain(m *testing.M) {
	var err error
	cluster, err = pgdev.StartForTests(context.Background(), pgdev.Options{}, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := cluster.Stop(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

var databases atomic.Int64

// newDatabase creates an empty database in c and returns its name.
func newDatabase(t *testing.T, c *pgdev.Cluster) string {
	t.Helper()
	name := fmt.Sprintf("migrate_%d", databases.Add(1))
	execute(t, c.URL("postgres"), "create database "+name)
	return name
}

// installed is the address of a database with all that is embedded: a clone of one that was installed once, which takes a tenth of the time.
func installed(t *testing.T) string {
	t.Helper()
	const model = "migrate_model"
	makeModel.Do(func() {
		execute(t, cluster.URL("postgres"), "create database "+model)
		pool, err := pgxpool.New(t.Context(), cluster.URL(model))
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		mustUp(t, pool, nil, embedded())
	})
	name := fmt.Sprintf("migrate_%d", databases.Add(1))
	execute(t, cluster.URL("postgres"), "create database "+name+" template "+model+" strategy file_copy")
	return cluster.URL(name)
}

var makeModel sync.Once

func connect(t *testing.T, address string) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	return connectConfig(t, config)
}

func connectConfig(t *testing.T, config *pgxpool.Config) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// execute runs SQL on a connection of its own.
func execute(t *testing.T, address, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%v\nin %s", err, sql)
	}
}

func value[T any](t *testing.T, pool *pgxpool.Pool, sql string) T {
	t.Helper()
	var v T
	if err := pool.QueryRow(t.Context(), sql).Scan(&v); err != nil {
		t.Fatalf("%v\nin %s", err, sql)
	}
	return v
}

// as is the address with another login.
func as(t *testing.T, address, login, password string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(login, password)
	return u.String()
}

// client runs one of Postgres's programs, of the server's own version, and returns what it printed.
func client(t *testing.T, program, stdin string, args ...string) string {
	t.Helper()
	out, errs, err := tryClient(t, program, stdin, args...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, errs)
	}
	return out
}

func tryClient(t *testing.T, program, stdin string, args ...string) (output, errors string, err error) {
	t.Helper()
	p := cluster.Platform()
	command := append([]string{filepath.Join(p.BinDir, program)}, args...)
	if p.Root != "" {
		command = append([]string{"chroot", p.Root}, command...)
	}
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// dumpOf is the schema of a database as pg_dump writes it, with what this package remembers.
func dumpOf(t *testing.T, address string) string {
	t.Helper()
	pool := connect(t, address)
	return pgDump(t, address) + value[string](t, pool, `
		select coalesce((select string_agg(format('%s %s %s', version, name, sha256), E'\n' order by version) from core_private.schema_migrations), '')
		       || E'\n' || (select string_agg(format('%s %s %s %s %s', path, kind, sha256, signatures, definitions), E'\n' order by path)
		          from core_private.installed_objects)`)
}

// pgDump is the schema of a database without the lines into which newer releases of pg_dump put a random key.
func pgDump(t *testing.T, address string) string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(client(t, "pg_dump", "", "--schema-only", address)) {
		if !strings.HasPrefix(line, `\restrict`) && !strings.HasPrefix(line, `\unrestrict`) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// pgmqSQL is the install script of the newest pgmq that the server has.
func pgmqSQL(t *testing.T) string {
	t.Helper()
	version, ok := cluster.Available()["pgmq"]
	if !ok {
		t.Skip("the server has no pgmq")
	}
	p := cluster.Platform()
	text, err := os.ReadFile(filepath.Join(p.Root, p.ShareDir, "extension", "pgmq--"+version+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sample is a schema that has one of each kind and uses the real roles and grants.
func sample() schema {
	return schema{
		roles: nexussql.CreateRoles(),
		migrations: []nexussql.File{
			nexussql.NewFile("migrations/0001_create_namespaces.sql", `create table core.namespaces (namespace text primary key);`),
			nexussql.NewFile("migrations/0002_add_color.sql", `alter table core.namespaces add column color text;`),
		},
		functions: []nexussql.File{
			nexussql.NewFile("functions/event/emit.sql", `
create or replace function core.emit(p_namespace text)
returns bigint
language plpgsql
as $$
begin
  insert into core.namespaces values (p_namespace);
  return 1;
end
$$;`),
			nexussql.NewFile("functions/upkeep/now.sql", `
create or replace function core_private.now() returns timestamptz language sql as $$ select clock_timestamp() $$;`),
			nexussql.NewFile("functions/upkeep/after_install.sql", `
create or replace function core_private.after_install() returns void language sql as $$
  insert into core.namespaces values ('made by after_install') on conflict do nothing;
$$;`),
			nexussql.NewFile("extensions/pg_cron/schedule_jobs.sql", `-- owner: nexus_scheduler
create or replace function core_private.schedule_jobs() returns bigint language sql security definer as $$
  select cron.schedule('nexus:tick', '* * * * *', 'select 1');
$$;
comment on function core_private.schedule_jobs() is 'schedules';`),
		},
		views: []nexussql.File{
			nexussql.NewFile("views/10_names.sql", `create or replace view core.names as select namespace from core.namespaces;`),
			nexussql.NewFile("views/20_short_names.sql", `create or replace view core.short_names as select * from core.names where length(namespace) < 5;`),
		},
		grants:     nexussql.Grants(),
		extensions: extensionsSQL,
	}
}

// replace is files with the one of that path made of another text.
func replace(files []nexussql.File, path, text string) []nexussql.File {
	changed := append([]nexussql.File(nil), files...)
	for i, f := range changed {
		if f.Path == path {
			changed[i] = nexussql.NewFile(path, text)
		}
	}
	return changed
}
