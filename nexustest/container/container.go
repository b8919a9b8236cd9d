package container

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"

	"github.com/nexuspg/nexus/internal/dbtest"
)

const (
	// EnvImage names the image, if it is not the one that docker/ builds.
	EnvImage = "NEXUS_TEST_IMAGE"

	image = "nexus-postgres:latest"

	// seconds ends a container whose process was killed, or whose package has no Main.
	seconds = "3600"

	password = "nexus"
)

// command is that of the image, which a changed entry point hides, for data that may be lost.
var command = []string{
	"postgres", "-c", "shared_preload_libraries=pg_cron", "-c", "cron.database_name=nexus", "-c", "cron.use_background_workers=on",
	"-c", "max_worker_processes=20", "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off",
}

func init() { dbtest.Container = start }

func start(ctx context.Context) (url string, stop func() error, err error) {
	pool, err := dockertest.NewPool("")
	if err != nil {
		return "", nil, err
	}
	if err := pool.Client.Ping(); err != nil {
		return "", nil, fmt.Errorf("docker: %w", err)
	}
	name := cmp.Or(os.Getenv(EnvImage), image)
	repository, tag := docker.ParseRepositoryTag(name)
	res, err := pool.RunWithOptions(&dockertest.RunOptions{
		Repository: repository, Tag: tag, Env: []string{"POSTGRES_PASSWORD=" + password},
		// Docker itself has no limit to how long a container lives.
		Entrypoint: []string{"timeout", "-s", "INT", seconds, "docker-entrypoint.sh"},
		Cmd:        command,
	}, func(h *docker.HostConfig) { h.AutoRemove = true })
	if err != nil {
		return "", nil, fmt.Errorf("docker: image %s: %w (build it in the repository of Nexus: docker build -t %s -f docker/postgres.Dockerfile docker)",
			name, err, name)
	}
	url = fmt.Sprintf("postgres://postgres:%s@%s/postgres?sslmode=disable", password, res.GetHostPort("5432/tcp"))
	stop = func() error { return pool.Purge(res) }
	if err := pool.Retry(func() error { return answers(ctx, url) }); err != nil {
		return "", nil, errors.Join(err, stop())
	}
	return url, stop, nil
}

func answers(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}
