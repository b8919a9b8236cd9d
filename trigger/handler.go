package trigger

import (
	"context"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// HandlerOptions say what a handler is; which ones it takes goes by its kind.
type HandlerOptions struct {
	Function string        // sql: such as "app.on_order(jsonb)", of the login's own; see docs/guides/sql-handlers.md
	Timeout  time.Duration // sql: of a call by a node, 0: 30 s; webhook: of a POST, 0: 15 s

	URL         string // webhook: where deliveries are POSTed
	Source      string // webhook: source of its CloudEvents; "": nexus: and the namespace
	Concurrency int    // webhook: POSTs at once of each node; 0: 5
	Insecure    bool   // webhook: the URL may be one of http
	Secret      string // webhook: what signs; "": one is made
}

// Made is what came of [CreateHandler].
type Made struct {
	Created bool
	Secret  string // of a webhook that was made now, this once
}

// CreateHandler makes a handler of that key, or sees that there is one like it; one with other settings is [nexus.ErrConflict]. Those of nodes and workflows
// need none: they are made when a trigger names them. opts may be nil.
func CreateHandler(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, key string, opts *HandlerOptions) (Made, error) {
	o := db.NewOptions("create_handler", "")
	if opts != nil {
		o.Text("function", opts.Function)
		o.Duration("timeout", opts.Timeout)
		o.Text("url", opts.URL)
		o.Text("source", opts.Source)
		o.Number("concurrency", int64(opts.Concurrency))
		o.Flag("insecure", opts.Insecure)
		o.Text("secret", opts.Secret)
	}
	options, err := o.Encode()
	if err != nil {
		return Made{}, err
	}
	var m Made
	err = db.Call(ctx, q, "create_handler", "select h.created, coalesce(h.secret, '') from core.create_handler($1::text, $2::text, $3::text::jsonb) h",
		[]any{string(ns), key, options}, &m.Created, &m.Secret)
	return m, err
}

// DropHandler drops it and reports whether there was one. One that triggers name is [nexus.ErrConflict].
func DropHandler(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, key string) (had bool, err error) {
	err = db.Call(ctx, q, "drop_handler", "select core.drop_handler($1::text, $2::text)", []any{string(ns), key}, &had)
	return had, err
}
