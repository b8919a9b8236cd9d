package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/pgdev"
)

// Options of the demo.
type Options struct {
	Events   int  // at least so many are emitted
	Keep     bool // leave the server running, unless ctx ends
	Out      io.Writer
	CacheDir string   // where fetched packages are kept
	NodeArgs []string // command line of a node process, which calls [Node]; the node's name is appended
}

// demo is one run.
type demo struct {
	Options
	began   time.Time
	cluster *pgdev.Cluster
	owner   *pgxpool.Pool // installs, operates and counts
	app     *pgxpool.Pool // emits, as an ordinary login
	url     string        // of the app
	nodes   []*process    // those that should be running

	receiver *receiver   // of the webhook
	carrier  *receiver   // of what changes in the watched table
	answers  []string    // to the requests, by parcel
	invoiced time.Time   // when the invoices were emitted
	orders   []uuid.UUID // runs of the workflow order
}

// Run does the whole thing. It fails with [ErrWrong] if anything was lost, doubled or does not add up. Whatever happens it
// leaves no node behind, and no server unless it was told to keep that.
func Run(ctx context.Context, o Options) error {
	list, source, err := webhooks(ctx, o.CacheDir)
	if err != nil {
		return err
	}
	return run(ctx, o, list, source)
}

func run(ctx context.Context, o Options, list []webhook, source string) (err error) {
	d := &demo{Options: o, began: time.Now()}
	d.say("input: %d payloads from %s", len(list), source)

	if d.cluster, err = pgdev.Start(ctx, pgdev.Options{CronDatabase: database}); err != nil {
		return err
	}
	defer func() {
		// Kept for the one who wants to find out why it failed, too, but not for the one who stopped it.
		if err != nil && o.Keep && ctx.Err() == nil {
			err = errors.Join(err, d.leave())
		}
		err = errors.Join(err, d.cluster.Stop(context.WithoutCancel(ctx)))
	}()
	defer d.close()
	if err := d.install(ctx); err != nil {
		return err
	}
	c, err := d.play(ctx, script(list, o.Events))
	if err != nil {
		return err
	}
	if err := d.report(ctx); err != nil {
		return err
	}
	if o.Keep {
		if err := d.leave(); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(o.Out, "%s\n%s\n%s\n%s\n", c.parcels, c.outlets, c.slots, c.result); err != nil {
		return err
	}
	return errors.Join(c.parcels.judge(), c.outlets.judge(), c.slots.judge(), c.result.judge())
}

// leave lets the server stay; stopping it is then no longer ours.
func (d *demo) leave() error {
	left, err := d.cluster.KeepRunning()
	if err != nil {
		return err
	}
	d.say("the server stays up: %s\nstop it with: %s", d.cluster.URL(database), left.Stop)
	return nil
}

func (d *demo) close() {
	for _, r := range []*receiver{d.receiver, d.carrier} {
		if r != nil {
			r.close()
		}
	}
	for _, pool := range []*pgxpool.Pool{d.app, d.owner} {
		if pool != nil {
			pool.Close()
		}
	}
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.Out, format+"\n", args...) }

// tell is say with the time since the start.
func (d *demo) tell(format string, args ...any) {
	d.say("%5.1fs  "+format, append([]any{time.Since(d.began).Seconds()}, args...)...)
}
