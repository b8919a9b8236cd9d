package dbtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"

	"github.com/nexuspg/nexus/internal/pgdev"
)

const (
	// EnvURL names a running server by a superuser's URL.
	EnvURL = "NEXUS_TEST_DATABASE_URL"

	// EnvImage names the container's image, if it is not the one that docker/ builds.
	EnvImage = "NEXUS_TEST_IMAGE"

	image = "nexus-postgres:latest"

	// containerSeconds ends a container whose process was killed, or whose package has no Main.
	containerSeconds = "3600"
)

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

// containerCommand is that of the image, which a changed entry point hides, for data that may be lost.
var containerCommand = []string{
	"postgres", "-c", "shared_preload_libraries=pg_cron", "-c", "cron.database_name=nexus", "-c", "cron.use_background_workers=on",
	"-c", "max_worker_processes=20", "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off",
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
	name := cmp.Or(os.Getenv(EnvImage), image)
	repository, tag := docker.ParseRepositoryTag(name)
	res, err := pool.RunWithOptions(&dockertest.RunOptions{
		Repository: repository, Tag: tag, Env: []string{"POSTGRES_PASSWORD=" + password},
		// Docker itself has no limit to how long a container lives.
		Entrypoint: []string{"timeout", "-s", "INT", containerSeconds, "docker-entrypoint.sh"},
		Cmd:        containerCommand,
	}, func(h *docker.HostConfig) { h.AutoRemove = true })
	if err != nil {
		return server{}, fmt.Errorf("docker: image %s: %w (build it in the repository of Nexus: docker build -t %s -f docker/postgres.Dockerfile docker)",
			name, err, name)
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
