package dbtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/pgdev"
)

// EnvURL names a running server by a superuser's URL.
const EnvURL = "NEXUS_TEST_DATABASE_URL"

// Container starts a server where none is named and no Postgres is installed, and returns a superuser's URL. Package nexustest/container
// sets it: Docker's client brings some forty modules along, which a program that only has tests of its own need not know.
var Container func(context.Context) (url string, stop func() error, err error)

// server is where a test process's databases are.
type server struct {
	url  string
	stop func() error
}

var (
	once    sync.Once
	current server
	failure error
)

// Main runs the tests of a package and stops the server, if this process started one.
func Main(m *testing.M) {
	code := m.Run()
	if current.stop != nil {
		if err := current.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "dbtest:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// URL is the superuser's URL of the server, which is started when the first test asks.
func URL(t testing.TB) string {
	t.Helper()
	once.Do(func() { current, failure = choose() })
	if failure != nil {
		t.Fatalf("no Postgres to test on: %v", failure)
	}
	return current.url
}

func choose() (server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if url := os.Getenv(EnvURL); url != "" {
		return server{url: url}, ensureTemplate(ctx, url)
	}
	platform, err := pgdev.Find()
	if err != nil {
		return contain(ctx, err)
	}
	c, err := pgdev.StartForTests(ctx, pgdev.Options{Platform: platform}, BuildTemplate)
	if err != nil {
		return server{}, err
	}
	return server{url: c.URL("postgres"), stop: func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		return c.Stop(ctx)
	}}, nil
}

// contain is for a machine without Postgres, of which missing says what is missing.
func contain(ctx context.Context, missing error) (server, error) {
	if Container == nil {
		return server{}, fmt.Errorf(`%w; or set %s to a superuser's URL; or import _ "github.com/nexuspg/nexus/nexustest/container" beside these tests for a container of Docker`, missing, EnvURL)
	}
	url, stop, err := Container(ctx)
	if err != nil {
		return server{}, errors.Join(missing, err)
	}
	if err := ensureTemplate(ctx, url); err != nil {
		return server{}, errors.Join(err, stop())
	}
	return server{url: url, stop: stop}, nil
}

// ensureTemplate prepares a server that may have been prepared before, and may have outlived an edit of the SQL. Packages run at
// once, so one of them does it while the others wait.
func ensureTemplate(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "select pg_advisory_lock(hashtext('nexus dbtest'))"); err != nil {
		return err
	}
	if err := dropLeftClones(ctx, conn, clonePrefix, time.Hour); err != nil {
		return fmt.Errorf("drop databases that killed tests left: %w", err)
	}
	if built, err := isBuilt(ctx, conn); built || err != nil {
		return err
	}
	return BuildTemplate(ctx, url)
}

// dropLeftClones drops databases with the prefix that nobody is connected to and that were created longer ago than age.
func dropLeftClones(ctx context.Context, conn *pgx.Conn, prefix string, age time.Duration) error {
	rows, err := conn.Query(ctx, `
		select d.datname::text
		  from pg_database d cross join lateral pg_stat_file(format('base/%s/PG_VERSION', d.oid), true) f
		 where d.datname like $1 and f.modification < clock_timestamp() - make_interval(secs => $2)
		   and not exists (select from pg_stat_activity a where a.datid = d.oid)`, strings.ReplaceAll(prefix, "_", `\_`)+"%", age.Seconds())
	if err != nil {
		return err
	}
	left, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range left {
		if _, err := conn.Exec(ctx, "drop database if exists "+pgx.Identifier{name}.Sanitize()); err != nil {
			return err
		}
	}
	return nil
}
