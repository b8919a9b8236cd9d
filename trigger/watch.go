package trigger

import (
	"context"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// WatchOptions say which changes of a table are mutations.
type WatchOptions struct {
	Ops         []string      // insert, update, delete; nil: all
	Columns     []string      // that are shown, and of which an update has to change one; nil: all
	Key         []string      // of a table without a primary key and a replica identity
	Unchanged   bool          // also updates that change nothing
	Emit        bool          // each mutation is an ordinary event as well
	Replica     bool          // also what replication applies; then the table is watched row by row
	LockTimeout time.Duration // how long it waits for the table; 0: 5 s
}

// WatchTable makes each change of a row of a table a mutation of a collection, in the transaction that makes the change, and returns the number of the watch.
// It takes the table's owner, who may produce. Watched alike again nothing is done; other settings are [nexus.ErrConflict], a table that cannot be watched is
// [nexus.ErrInvalid]. opts may be nil.
func WatchTable(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, table, collection string, opts *WatchOptions) (id int64, err error) {
	o := db.NewOptions("watch_table", "")
	if opts != nil {
		o.Texts("ops", opts.Ops)
		o.Texts("columns", opts.Columns)
		o.Texts("key", opts.Key)
		o.Flag("unchanged", opts.Unchanged)
		o.Flag("emit", opts.Emit)
		o.Flag("replica", opts.Replica)
		o.Duration("lock_timeout", opts.LockTimeout)
	}
	options, err := o.Encode()
	if err != nil {
		return 0, err
	}
	err = db.Call(ctx, q, "watch_table", "select core.watch_table($1::text, $2::text::regclass, $3::text, $4::text::jsonb)",
		[]any{string(ns), table, collection, options}, &id)
	return id, err
}

// UnwatchTable ends it. It takes the table's owner; a table that is not watched is [nexus.ErrNotFound].
func UnwatchTable(ctx context.Context, q nexus.DBTX, table string) error {
	return db.Call(ctx, q, "unwatch_table", "select core.unwatch_table($1::text::regclass)::text", []any{table}, new(string))
}

// SwitchWatch has changes of a watched table be no mutations, for that reason, or be some again; changed is false if that was so. It takes an operator.
func SwitchWatch(ctx context.Context, q nexus.DBTX, id int64, on bool, reason string) (changed bool, err error) {
	err = db.Call(ctx, q, "switch_watch", "select core.switch_watch($1::bigint, $2::boolean, nullif($3::text, ''))", []any{id, on, reason}, &changed)
	return changed, err
}
