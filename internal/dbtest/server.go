package dbtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"

	"github.com/nexuspg/nexus/internal/pgdev"
	"github.com/nexuspg/nexus/migrate"
)

// EnvURL names a running server by a superuser's URL.
const EnvURL = "NEXUS_TEST_DATABASE_URL"

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
		s, dockerErr := container(ctx)
		if dockerErr != nil {
			return server{}, errors.Join(err, dockerErr)
		}
		return s, nil
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

// ensureTemplate builds the template on a server that was not prepared, and brings it up to date on one that was. Packages run at once, so one of them does it.
func ensureTemplate(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "select pg_advisory_lock(hashtext('nexus dbtest'))"); err != nil {
		return err
	}
	var there bool
	err = conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", pgdev.TemplateDatabase).Scan(&there)
	if err != nil {
		return err
	}
	if !there {
		return BuildTemplate(ctx, url)
	}
	// A server that outlives an edit of the SQL has an older template. Nothing is done when it is not.
	pool, err := pgxpool.New(ctx, with(url, pgdev.TemplateDatabase, nil))
	if err != nil {
		return err
	}
	defer pool.Close()
	_, err = migrate.Up(ctx, pool, nil)
	return err
}

// container runs the image that docker/ builds.
func container(ctx context.Context) (server, error) {
	pool, err := dockertest.NewPool("")
	if err != nil {
		return server{}, err
	}
	if err := pool.Client.Ping(); err != nil {
		return server{}, fmt.Errorf("docker: %w", err)
	}
	const password = "nexus"
	res, err := pool.RunWithOptions(&dockertest.RunOptions{
		Repository: "nexus-postgres", Tag: "latest", Env: []string{"POSTGRES_PASSWORD=" + password},
	}, func(h *docker.HostConfig) { h.AutoRemove = true })
	if err != nil {
		return server{}, fmt.Errorf("docker: %w (build the image first: docker build -t nexus-postgres -f docker/postgres.Dockerfile .)", err)
	}
	s := server{
		url:  fmt.Sprintf("postgres://postgres:%s@%s/postgres?sslmode=disable", password, res.GetHostPort("5432/tcp")),
		stop: func() error { return pool.Purge(res) },
	}
	if err := pool.Retry(func() error { return ensureTemplate(ctx, s.url) }); err != nil {
		return server{}, errors.Join(err, s.stop())
	}
	return s, nil
}
