package demo

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/deadletter"
	"github.com/nexuspg/nexus/internal/pgdev"
	"github.com/nexuspg/nexus/migrate"
	"github.com/nexuspg/nexus/queue"
)

//go:embed schema.sql
var schema string

const (
	database = "nexus"
	login    = "demo_app"

	// patience bounds each wait for something that must happen.
	patience = 2 * time.Minute
)

// Options of the demo.
type Options struct {
	Events   int  // at least so many are emitted
	Keep     bool // leave the server running
	Out      io.Writer
	CacheDir string   // where fetched packages are kept
	NodeArgs []string // command line of a node process; its name is appended, and NEXUS_DATABASE_URL is set
}

// demo is one run.
type demo struct {
	Options
	owner *pgxpool.Pool // installs, operates and counts
	app   *pgxpool.Pool // emits, as an ordinary login
	url   string        // of the app
}

// Run does the whole thing and fails if anything was lost, doubled or does not add up.
func Run(ctx context.Context, o Options) (err error) {
	list, source, err := webhooks(ctx, o.CacheDir)
	if err != nil {
		return err
	}
	d := &demo{Options: o}
	d.say("input: %d payloads from %s", len(list), source)

	cluster, err := pgdev.Start(ctx, pgdev.Options{CronDatabase: database})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop(context.WithoutCancel(ctx))) }()
	if err := d.install(ctx, cluster); err != nil {
		return err
	}
	defer d.owner.Close()
	defer d.app.Close()

	result, err := d.play(ctx, script(list, o.Events))
	if err != nil {
		return fmt.Errorf("%w (server log: the demo removes it; run again with --keep to look)", err)
	}
	if err := d.report(ctx, cluster.URL(database)); err != nil {
		return err
	}
	if o.Keep {
		left, err := cluster.KeepRunning()
		if err != nil {
			return err
		}
		d.say("the server stays up: %s\nstop it with: %s", cluster.URL(database), left.Stop)
	}
	fmt.Fprintln(o.Out, result)
	return result.judge()
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.Out, format+"\n", args...) }

// install creates the database, Nexus, the business tables and the login of nodes and emitters.
func (d *demo) install(ctx context.Context, cluster *pgdev.Cluster) error {
	admin, err := pgx.Connect(ctx, cluster.URL("postgres"))
	if err != nil {
		return err
	}
	password := rand.Text()
	for _, sql := range []string{"create database " + database, "create role " + login + " login password '" + password + "'"} {
		if _, err := admin.Exec(ctx, sql); err != nil {
			return errors.Join(err, admin.Close(ctx))
		}
	}
	if err := admin.Close(ctx); err != nil {
		return err
	}
	if d.owner, err = pgxpool.New(ctx, cluster.URL(database)); err != nil {
		return err
	}
	report, err := migrate.Up(ctx, d.owner, nil)
	if err != nil {
		d.owner.Close()
		return err
	}
	for _, m := range report.Missing {
		d.say("missing: %s", m)
	}
	_, err = d.owner.Exec(ctx, schema+`
		grant nexus_producer, nexus_consumer to `+login+`;
		grant usage on schema demo to `+login+`;
		grant select, insert, update on all tables in schema demo to `+login)
	if err == nil {
		err = queue.CreateNamespace(ctx, d.owner, namespace, nil)
	}
	if err != nil {
		d.owner.Close()
		return err
	}
	u, err := url.Parse(cluster.URL(database))
	if err != nil {
		return err
	}
	u.User = url.UserPassword(login, password)
	d.url = u.String()
	cfg, err := pgxpool.ParseConfig(d.url)
	if err != nil {
		return err
	}
	cfg.MaxConns = 5
	d.app, err = pgxpool.NewWithConfig(ctx, cfg)
	d.say("postgres: port %d, schema version %d, %v", cluster.Port(), report.Want, cluster.Available())
	return err
}

// play emits, kills, mends and returns the counts.
func (d *demo) play(ctx context.Context, all []webhook) (*Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a, err := d.spawn("node-a")
	if err != nil {
		return nil, err
	}
	defer a.kill()
	b, err := d.spawn("node-b")
	if err != nil {
		return nil, err
	}
	defer b.kill()
	if err := d.wait(ctx, "two nodes to be alive", `select count(*) = 2 from core.node_status where alive and state = 'active'`); err != nil {
		return nil, err
	}
	d.say("nodes: two processes are alive")

	emitted := make(chan error, 1)
	began := time.Now()
	go func() { emitted <- emitAll(ctx, d.app, all, 4) }()

	half := fmt.Sprintf(`select count(*) >= %d from demo.handled`, len(all)/2)
	if err := d.wait(ctx, "half to be handled", half); err != nil {
		return nil, err
	}
	a.kill()
	d.say("kill -9: node-a, when the database said that half were handled")
	if err := <-emitted; err != nil {
		return nil, fmt.Errorf("emit: %w", err)
	}
	d.say("emitted: %d events in as many transactions, in %s", len(all), time.Since(began).Round(time.Millisecond))

	if err := d.wait(ctx, "the poison to be buried", `select count(*) = 2 from core.unresolved_dead_letters`); err != nil {
		return nil, err
	}
	if err := d.mend(ctx); err != nil {
		return nil, err
	}
	if err := d.wait(ctx, "the rest to be handled", `select not exists (select from demo.received r
		where not r.given_up and not exists (select from demo.handled h where h.event_uid = r.event_uid))`); err != nil {
		return nil, err
	}
	// A second effect of something would come from what is still queued.
	if err := d.wait(ctx, "the queue to be empty", `select not exists (select from pgmq.q_core_events_github)`); err != nil {
		return nil, err
	}
	d.say("handled: everything, in %s", time.Since(began).Round(time.Millisecond))
	if err := b.stop(); err != nil {
		return nil, fmt.Errorf("node-b, told to stop: %w", err)
	}
	return count(ctx, d.owner)
}

// mend fixes the handler, replays the dead letter that it now can take and discards the other one.
func (d *demo) mend(ctx context.Context) error {
	if _, err := d.owner.Exec(ctx, `insert into demo.switches (name) values ('fixed')`); err != nil {
		return err
	}
	f := deadletter.Filter{Namespace: namespace, Reason: "error"}
	replayed, err := deadletter.Replay(ctx, d.owner, f, nil)
	if err != nil {
		return err
	}
	// The business gives the other one up in its own tables too, in the transaction that discards it.
	var discarded deadletter.Result
	err = pgx.BeginFunc(ctx, d.owner, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `update demo.received r set given_up = true
			from core.unresolved_dead_letters l where l.event_uid = r.event_uid and l.reason like 'a push without commits%'`)
		if err != nil {
			return err
		}
		discarded, err = deadletter.Discard(ctx, tx, deadletter.Filter{Namespace: namespace, Reason: "a push without commits is no push"}, "sent by mistake")
		return err
	})
	if err != nil {
		return err
	}
	if replayed.Done != 1 || discarded.Done != 1 {
		return fmt.Errorf("of the two dead letters %d were replayed and %d discarded", replayed.Done, discarded.Done)
	}
	d.say("dead letters: 2 buried, 1 replayed after the fix, 1 discarded")
	return nil
}

// wait polls until sql is true.
func (d *demo) wait(ctx context.Context, what, sql string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("waited %s for %s", patience, what))
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var is bool
		if err := d.owner.QueryRow(ctx, sql).Scan(&is); err != nil {
			return errors.Join(context.Cause(ctx), err)
		}
		if is {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// process is one node.
type process struct {
	cmd *exec.Cmd
	log *os.File
}

func (d *demo) spawn(name string) (*process, error) {
	if err := os.MkdirAll(d.CacheDir, 0o755); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(d.CacheDir, "demo-"+name+".log"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(d.NodeArgs[0], append(d.NodeArgs[1:], name)...)
	cmd.Env = append(os.Environ(), "NEXUS_DATABASE_URL="+d.url)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return &process{cmd, log}, nil
}

// kill ends it without a word, if it still runs.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		_ = p.log.Close()
	}
}

// stop asks it to end and fails if it does not end well.
func (p *process) stop() error {
	defer p.log.Close()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return p.cmd.Wait()
}

// Result is what was counted: dead_lettered and replayed in the ledger, all else in the business tables.
type Result struct{ Emitted, Handled, DeadLettered, Replayed, Lost, Doubled int }

func (r *Result) String() string {
	return fmt.Sprintf("demo: emitted=%d handled=%d dead_lettered=%d replayed=%d lost=%d doubled=%d",
		r.Emitted, r.Handled, r.DeadLettered, r.Replayed, r.Lost, r.Doubled)
}

// ErrWrong says that the demo showed a fault of Nexus.
var ErrWrong = errors.New("the counts are wrong")

func (r *Result) judge() error {
	if r.Lost != 0 || r.Doubled != 0 || r.Emitted != r.Handled+r.DeadLettered || r.Replayed != 1 {
		return fmt.Errorf("%w: %s", ErrWrong, r)
	}
	return nil
}

func count(ctx context.Context, db nexus.DBTX) (*Result, error) {
	r := &Result{}
	err := db.QueryRow(ctx, `select
		(select count(*) from demo.received),
		(select count(*) from demo.received r where exists (select from demo.handled h where h.event_uid = r.event_uid)),
		(select count(*) from core.dead_letters where resolution is distinct from 'replayed'),
		(select count(*) from core.dead_letters where resolution = 'replayed'),
		(select count(*) from demo.received r where not r.given_up and not exists (select from demo.handled h where h.event_uid = r.event_uid)),
		(select count(*) - count(distinct event_uid) from demo.handled)`).
		Scan(&r.Emitted, &r.Handled, &r.DeadLettered, &r.Replayed, &r.Lost, &r.Doubled)
	return r, err
}
