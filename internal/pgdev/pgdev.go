// Package pgdev starts private PostgreSQL clusters from the server binaries of this machine, for tests, demo and dev.
//
// A cluster is one folder: the data directory, the log, the socket and the superuser's password. It listens on a port of
// 127.0.0.1 that nobody else uses, so any number of them run side by side and none touches a server the machine already has.
//
// Three things are easy to get wrong, and this package exists to get them right once:
//
//   - PostgreSQL refuses to run as root. Started by root, the server's programs run as the OS user postgres; started by anyone
//     else, as that user.
//   - A server must not outlive a parent that was killed with SIGKILL, which can clean up nothing. A shell waits for the end of
//     a pipe that only the parent holds, then stops the server and removes its folder (see watchdog.go).
//   - Postgres is ready when it answers a query of ours, so readiness is a connection made with the cluster's own random
//     password: another server that happens to sit on the port can never be taken for it.
//
// What a machine lacks is left out, not fatal: without pg_cron's library nothing is preloaded, and Available tells the caller
// which extensions the server could create.
package pgdev

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

// Options say how a cluster is started. The zero value is a throw-away cluster of the first platform found.
type Options struct {
	// Platform holds the binaries to run; the zero value means what Find returns.
	Platform Platform

	// Dir is the cluster's folder. Empty means a new temporary one, which Stop removes. A folder that already holds a cluster of
	// this package is started as it is, with its old password; a folder that is named is never removed.
	Dir string

	// Port on 127.0.0.1; 0 means a free one.
	Port int

	// CronDatabase is the one database in which pg_cron may be created and in which its jobs live; empty means "postgres".
	// It need not exist yet: pg_cron's launcher tries again every second.
	CronDatabase string

	// Settings are written after this package's own and so win over them, by the names of postgresql.conf.
	Settings map[string]string

	// Logger tells about start and stop; nil means silence. The server's own log is in the folder, see Cluster.LogFile.
	Logger *slog.Logger

	// InMemory puts a temporary folder into memory where there is room for it. What it holds is lost with the machine.
	InMemory bool

	// KeepDir leaves a temporary folder in place when the cluster ends, to look at what a failed test left.
	KeepDir bool
}

// Cluster is a server started by Start. Its methods may be called from several goroutines; Restart, Stop, Kill and
// KeepRunning wait for one another.
type Cluster struct {
	platform  Platform
	account   account
	dir       string // as this process sees it
	removeDir bool
	mounted   bool // dir is a mount of its own
	port      int
	password  string
	log       *slog.Logger
	available map[string]string

	mu       sync.Mutex
	settings map[string]string
	server   *server // nil while nothing runs
	watchdog *watchdog
	ended    bool // stopped for good, or no longer ours
}

// extensions are the ones that Nexus or its tests use.
var extensions = []string{"pgmq", "pg_cron", "pg_partman", "pgtap", "plpgsql_check"}

// Start creates a cluster (or opens the one in Options.Dir), runs it and returns when it answers queries. When it fails, nothing
// is left running and the error ends with the last lines of the server's log. ctx bounds the start only.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	if o.Platform == (Platform{}) {
		found, err := Find()
		if err != nil {
			return nil, err
		}
		o.Platform = found
	} else if err := o.Platform.Check(); err != nil {
		return nil, err
	}
	acc, err := serverAccount(o.Platform)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		platform:  o.Platform,
		account:   acc,
		port:      o.Port,
		log:       o.Logger,
		removeDir: o.Dir == "" && !o.KeepDir,
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if err := c.makeDir(o.Dir, o.InMemory && !o.KeepDir); err != nil {
		return nil, err
	}
	if err := c.start(ctx, o); err != nil {
		return nil, errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, o Options) error {
	var err error
	if c.watchdog, err = startWatchdog(c.dir, c.dataDir(), c.removeDir, c.mounted); err != nil {
		return err
	}
	if err := c.initialise(ctx); err != nil {
		return err
	}
	c.settings = c.defaults(o.CronDatabase)
	maps.Copy(c.settings, o.Settings)
	if err := c.startOnPort(ctx, o.Port); err != nil {
		return err
	}
	if c.available, err = c.probe(ctx); err != nil {
		return err
	}
	c.log.Info("postgres started", "port", c.port, "dir", c.dir, "platform", c.platform.Name)
	return nil
}

// startOnPort tries a few ports when the choice is ours: another process may take one between our look and the server's bind.
func (c *Cluster) startOnPort(ctx context.Context, wanted int) error {
	const tries = 5
	for try := 1; ; try++ {
		if wanted == 0 {
			port, err := freePort()
			if err != nil {
				return err
			}
			c.port = port
		}
		err := c.run(ctx)
		if wanted != 0 || try == tries || !errors.Is(err, errPortTaken) {
			return err
		}
	}
}

// run starts the server with the settings of the moment and waits until it answers.
func (c *Cluster) run(ctx context.Context) error {
	c.settings["port"] = strconv.Itoa(c.port)
	if err := writeSettings(c.account, filepath.Join(c.dataDir(), settingsFile), c.settings); err != nil {
		return err
	}
	s, err := startServer(c)
	if err != nil {
		return err
	}
	if err := s.waitReady(ctx, c.URL("postgres")); err != nil {
		return errors.Join(err, s.stop(context.WithoutCancel(ctx), immediate))
	}
	c.server = s
	return nil
}

// URL is the address of a database of this cluster for its superuser postgres, over TCP.
func (c *Cluster) URL(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword("postgres", c.password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Port is the port on 127.0.0.1. It stays the same over a Restart.
func (c *Cluster) Port() int { return c.port }

// Dir is the cluster's folder.
func (c *Cluster) Dir() string { return c.dir }

// LogFile is where the server writes its log.
func (c *Cluster) LogFile() string { return filepath.Join(c.dir, "postgres.log") }

// Platform is what the cluster runs on.
func (c *Cluster) Platform() Platform { return c.platform }

// Available maps each extension of Nexus and its tests that this server can create to the version CREATE EXTENSION would give.
// What is missing on the machine is missing in the map.
func (c *Cluster) Available() map[string]string { return maps.Clone(c.available) }

// Restart stops the server fast, lays the given settings over the present ones and starts it again on the same port. It also
// brings back a server that Kill or a crash ended.
func (c *Cluster) Restart(ctx context.Context, settings map[string]string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return errors.New("restart: the cluster was stopped or let go")
	}
	if c.server != nil {
		if err := c.server.stop(ctx, fast); err != nil {
			return fmt.Errorf("restart: %w", err)
		}
		c.server = nil
	}
	maps.Copy(c.settings, settings)
	if err := c.run(ctx); err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	c.log.Info("postgres restarted", "port", c.port)
	return nil
}

// Kill ends the server at once, as a power cut would look to the data: clients are dropped and the next start recovers. The folder
// stays, so Restart brings the server back; Stop still has to be called.
func (c *Cluster) Kill() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.server == nil {
		return nil
	}
	err := c.server.stop(context.Background(), immediate)
	c.server = nil
	return err
}

// Stop shuts the server down fast (open transactions are rolled back), at once if ctx ends first, and removes a temporary folder.
// When it returns, no process of the cluster is left. Stopping twice, or after KeepRunning, does nothing.
func (c *Cluster) Stop(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil
	}
	c.ended = true
	var errs []error
	if c.server != nil {
		errs = append(errs, c.server.stop(ctx, fast))
		c.server = nil
	}
	if c.removeDir {
		errs = append(errs, c.remove())
	}
	if c.watchdog != nil {
		errs = append(errs, c.watchdog.dismiss())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stop postgres: %w", err)
	}
	c.log.Info("postgres stopped", "port", c.port)
	return nil
}

// Leftover tells how to reach and how to end a server that outlives this process.
type Leftover struct {
	PID  int
	Dir  string
	URL  string // of database postgres, with the password
	Stop string // shell line that ends the server and, if the folder was temporary, removes it
}

// KeepRunning lets the server outlive this process. From then on the cluster is no longer ours: Stop does nothing.
// It fails when no server runs.
func (c *Cluster) KeepRunning() (Leftover, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.server == nil {
		return Leftover{}, errors.New("keep running: no server runs")
	}
	if err := c.watchdog.dismiss(); err != nil {
		return Leftover{}, fmt.Errorf("keep running: %w", err)
	}
	c.ended = true
	pid := c.server.pid()
	line := fmt.Sprintf("kill -INT %d", pid)
	if c.removeDir {
		line = fmt.Sprintf("%s; while kill -0 %d 2>/dev/null; do sleep 0.1; done", line, pid)
		if c.mounted {
			line += "; umount " + shellQuote(c.dir)
		}
		line += "; rm -rf " + shellQuote(c.dir)
	}
	return Leftover{PID: pid, Dir: c.dir, URL: c.URL("postgres"), Stop: line}, nil
}

func (c *Cluster) probe(ctx context.Context) (map[string]string, error) {
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return nil, fmt.Errorf("list extensions: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx,
		`select name::text, default_version from pg_catalog.pg_available_extensions where name = any ($1)`, extensions)
	if err != nil {
		return nil, fmt.Errorf("list extensions: %w", err)
	}
	found := map[string]string{}
	var name, version string
	if _, err := pgx.ForEachRow(rows, []any{&name, &version}, func() error { found[name] = version; return nil }); err != nil {
		return nil, fmt.Errorf("list extensions: %w", err)
	}
	// Its SQL files alone are of no use: pg_cron can be created only where its library was preloaded.
	if !c.platform.hasLibrary("pg_cron") {
		delete(found, "pg_cron")
	}
	return found, nil
}

func newPassword() string { return rand.Text() }

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
