package webhook

import (
	"context"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Options of a webhook; zero fields take the default, or leave what is there.
type Options struct {
	Source      string            // of its CloudEvents; "": nexus: and the namespace
	Timeout     time.Duration     // of one POST with its answer; 0: 15 s; 1 s to 5 min
	Concurrency int               // POSTs at once of each node; 0: 5; up to 1,000
	PauseAfter  time.Duration     // how long it may fail before it is paused; 0: 5 days
	Insecure    bool              // allows a URL of http
	Secret      string            // of Create: whsec_ and 24 to 64 bytes in base64; "": one is made
	Retry       nexus.RetryPolicy // of Create, for its consumer: 15 attempts, 30 s to 8 h apart
	MaxInFlight int               // of Create, for its consumer: POSTs at once of all nodes
	Levels      int               // of Create, for its consumer: how many priorities it tells apart, up to 4; 0: one
	Rate        string            // of Create, for its consumer, such as "100/min"

	// Of Create: events with one ordering key are POSTed one after the other, of as many keys at once as there are lanes; 0: in no order. Such a webhook has no
	// MaxInFlight, Levels and Rate.
	Lanes int
	Halt  bool // with Lanes: an event whose attempts are used up stops its lane until somebody lets it go on, and is no dead letter
}

func (o *Options) encode(op string) (string, error) {
	e := db.NewOptions(op, "")
	if o != nil {
		e.Text("source", o.Source)
		e.Duration("timeout", o.Timeout)
		e.Number("concurrency", int64(o.Concurrency))
		e.Duration("pause_after", o.PauseAfter)
		e.Flag("insecure", o.Insecure)
		e.Text("secret", o.Secret)
		e.Retry("retry", o.Retry)
		e.Number("max_in_flight", int64(o.MaxInFlight))
		e.Number("levels", int64(o.Levels))
		e.Text("rate", o.Rate)
		if o.Lanes != 0 {
			e.Text("kind", "ordered")
			e.Number("lanes", int64(o.Lanes))
		}
		if o.Halt {
			e.Text("exhausted", "halt")
		}
	}
	return e.Encode()
}

// Create creates the consumer name, whose events of these patterns go to url, and returns the secret that they are signed with: it is not shown again. Of a
// webhook that was there as asked it is "". One that differs is [nexus.ErrConflict].
func Create(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name, url string, patterns []string, opts *Options) (secret string, err error) {
	options, err := opts.encode("create_webhook")
	if err != nil {
		return "", err
	}
	err = db.Call(ctx, q, "create_webhook", "select coalesce(core.create_webhook($1::text, $2::text, $3::text, $4::text[], $5::text::jsonb), '')",
		[]any{string(ns), name, url, patterns, options}, &secret)
	return secret, err
}

// Alter changes where a webhook's events go, if url is not "", and the options that are set: Source, Timeout, Concurrency, PauseAfter and Insecure. Nodes follow
// within seconds.
func Alter(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name, url string, opts *Options) error {
	options, err := opts.encode("alter_webhook")
	if err != nil {
		return err
	}
	return db.Do(ctx, q, "alter_webhook", "core.alter_webhook($1::text, $2::text, nullif($3::text, ''), $4::text::jsonb)", string(ns), name, url, options)
}

// RotateSecret gives a webhook another secret, secret or if that is "" one that is made, and returns it. The one before signs beside it for overlap more; 0: 24 hours;
// negative: not at all.
func RotateSecret(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name, secret string, overlap time.Duration) (string, error) {
	o := db.NewOptions("rotate_webhook_secret", "")
	o.Text("secret", secret)
	if overlap < 0 {
		o.Text("overlap", "0 s")
	} else {
		o.Duration("overlap", overlap)
	}
	options, err := o.Encode()
	if err != nil {
		return "", err
	}
	var young string
	err = db.Call(ctx, q, "rotate_webhook_secret", "select core.rotate_webhook_secret($1::text, $2::text, $3::text::jsonb)",
		[]any{string(ns), name, options}, &young)
	return young, err
}

// Drop drops a webhook with its consumer. While that has undelivered events or dead letters it is [nexus.ErrConflict], unless force says to lose them.
func Drop(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string, force bool) error {
	return db.Do(ctx, q, "drop_webhook", "core.drop_webhook($1::text, $2::text, $3::boolean)", string(ns), name, force)
}
