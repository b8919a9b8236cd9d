package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/db"
)

func newEventsTail(s *session) *cobra.Command {
	var (
		t     tail
		since string
	)
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Follow the event log: print events as they are committed",
		Long: `Follow the event log, from now or from --since, until Ctrl-C, which ends it with exit code 0. Each event is printed once, when
its transaction has committed: one that commits late comes late, and is not missed. Of transactions that were open when it
began, it shows what they emitted in the quarter of an hour before. With -o json each event is one line.

A database that goes away is waited for.`,
		Example: `  nexus-node events tail -n shop --type 'order.*'
  nexus-node events tail --since 10m -o json | jq -c .payload
  nexus-node events tail --since 2026-11-27T09:00:00Z --limit 100`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if t.since, err = sinceFlag(cmd, since, time.Now()); err != nil {
				return err
			}
			if t.every <= 0 || t.limit < 0 {
				return usage(cmd, "--interval must be above 0, --limit not below")
			}
			if err := typePattern(cmd, t.eventType); err != nil {
				return err
			}
			cfg, pool, err := s.connectToList(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			t.session, t.pool, t.namespace = s, pool, cfg.Namespace
			err = t.follow(cmd.Context())
			if errors.Is(err, context.Canceled) && cmd.Context().Err() != nil {
				return nil // asked to stop, it has done all it was to do
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&t.eventType, "type", "", `only of this event type or pattern, such as "order.*"`)
	f.StringVar(&since, "since", "", "begin with events emitted at or after this time, RFC 3339, or this long ago: 10m")
	f.IntVar(&t.limit, "limit", 0, "end after so many; 0: never")
	f.DurationVar(&t.every, "interval", 500*time.Millisecond, "how often to look")
	return cmd
}

// sinceFlag reads a time, or a duration before now.
func sinceFlag(cmd *cobra.Command, value string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(value); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return timeFlag(cmd, "since", value)
}

// tail follows the log by transactions, not by ids or times: both are given out before the commit, in an order that is not that of
// commits. What is new was written by a transaction that was running at the last look or began since. Of the former some may
// have been seen in the meantime, so what was printed of them is remembered. (Postgres could tell by the snapshot alone, but for
// what was emitted below a savepoint.)
//
// Where to look is bounded by ids. A transaction draws its own id before those of its events, so what was not yet running at a
// look will have event ids above all that could be seen then. The floor is therefore the highest id that was seen when the
// oldest transaction that is still running had not begun.
type tail struct {
	*session
	pool                 *pgxpool.Pool
	namespace, eventType string
	since                time.Time
	limit                int
	every                time.Duration

	snapshot string          // of the last look
	oldest   int64           // the oldest transaction that was running then
	seen     map[int64]int64 // events printed since it began, each with its transaction
	marks    []mark
	printed  int
}

// mark is how far ids had come when the next transaction was to be xmax.
type mark struct{ xmax, id int64 }

const (
	tailPage = 500

	// openFor is how far back events of transactions are looked for that were open at the beginning.
	openFor = 15 * time.Minute
)

var errEnough = errors.New("enough events")

func (t *tail) follow(ctx context.Context) error {
	begun, failing := false, 0
	for {
		start := time.Now()
		err := t.begin(ctx, &begun)
		if err == nil {
			err = t.look(ctx)
		}
		wait := t.every
		switch {
		case errors.Is(err, errEnough):
			return nil
		case err != nil && (!db.Unavailable(err) || ctx.Err() != nil):
			return err
		case err != nil:
			if failing++; failing == 1 {
				t.say(note{Warning: "the database is not available, waiting for it: " + err.Error()})
			}
			t.pool.Reset()
			wait = max(wait, time.Second)
		default:
			failing = 0
			// With a transaction that stays open for long there is more to read each time.
			wait = max(wait, 10*time.Since(start))
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}

// writer is the whole id of the transaction that wrote row l. The row holds its low half; the next id to be given out, $1, tells
// the other one.
const writer = `cross join lateral (select l.xmin::text::int8 + ($1::int8 >> 32 << 32) as x) low
	cross join lateral (select case when low.x >= $1::int8 then low.x - (1::int8 << 32) else low.x end as xid) tx`

// begin finds the first floor, once. Without --since all that can be seen now counts as printed.
func (t *tail) begin(ctx context.Context, begun *bool) error {
	if *begun {
		return nil
	}
	from := t.since
	if from.IsZero() {
		from = time.Now().Add(-openFor)
	}
	tx, err := t.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return db.Error(ctx, "tail", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	var xmin, xmax, floor int64
	// "+ 0" keeps the planner from walking the whole log in the order of ids.
	err = db.Call(ctx, tx, "tail", `select pg_catalog.pg_snapshot_xmin(s.s)::text::int8, pg_catalog.pg_snapshot_xmax(s.s)::text::int8,
		coalesce((select pg_catalog.min(event_id + 0) - 1 from core.event_log where emitted_at >= $1::timestamptz),
		         (select event_id from core.event_log order by event_id desc limit 1), 0)
		from pg_catalog.pg_current_snapshot() s(s)`, []any{from}, &xmin, &xmax, &floor)
	if err != nil {
		return err
	}
	t.seen, t.marks = map[int64]int64{}, []mark{{0, floor}}
	if t.since.IsZero() {
		t.oldest = xmin
		rows, err := tx.Query(ctx, `select l.event_id, tx.xid from core.event_log l `+writer+`
			where l.event_id > $2::int8 and tx.xid >= $3::int8`, xmax, floor, xmin)
		if err != nil {
			return db.Error(ctx, "tail", err)
		}
		var id, xid int64
		_, err = pgx.ForEachRow(rows, []any{&id, &xid}, func() error {
			t.seen[id] = xid
			return nil
		})
		if err != nil {
			return db.Error(ctx, "tail", err)
		}
	}
	*begun = true
	return nil
}

// look prints what has been committed since the last look.
func (t *tail) look(ctx context.Context) error {
	var (
		snapshot         string
		xmin, xmax, high int64
	)
	err := db.Call(ctx, t.pool, "tail", `select s.s::text, pg_catalog.pg_snapshot_xmin(s.s)::text::int8, pg_catalog.pg_snapshot_xmax(s.s)::text::int8,
		coalesce((select event_id from core.event_log order by event_id desc limit 1), 0)
		from pg_catalog.pg_current_snapshot() s(s)`, nil, &snapshot, &xmin, &xmax, &high)
	if err != nil {
		return err
	}
	if snapshot == t.snapshot {
		return nil
	}
	for cursor := t.marks[0].id; ; {
		n, last, err := t.page(ctx, cursor)
		if err != nil {
			return err
		}
		if n < tailPage {
			break
		}
		cursor = last
	}
	// What was printed of transactions that had ended at the snapshot will not be read again.
	t.snapshot, t.oldest = snapshot, xmin
	maps.DeleteFunc(t.seen, func(_, xid int64) bool { return xid < xmin })
	t.marks = append(t.marks, mark{xmax, high})
	// The newest mark that no running transaction is older than.
	keep := 0
	for i, m := range t.marks {
		if m.xmax <= xmin {
			keep = i
		}
	}
	t.marks = t.marks[keep:]
	return nil
}

// page prints the next events in the order of their ids, and says how many and which was the last.
func (t *tail) page(ctx context.Context, after int64) (n int, last int64, err error) {
	type event struct {
		id, xid int64
		record  record
	}
	seen := slices.Collect(maps.Keys(t.seen))
	rows, err := t.pool.Query(ctx, `select e.event_id, e.xid, pg_catalog.to_json(e)::text from (
		select l.event_id, l.emitted_at, l.namespace, l.event_type, l.payload, l.event_uid, l.producer_node_id, l.correlation_id, l.tags, tx.xid
		  from core.event_log l
		 cross join lateral (select pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::text::int8 as xmax) next
		 `+strings.ReplaceAll(writer, "$1::int8", "next.xmax")+`
		 where l.event_id > $1::int8 and tx.xid >= $2::int8 and l.event_id <> all (coalesce($3::int8[], '{}'))
		   and ($4::text = '' or l.namespace = $4::text)
		   and ($5::text in ('', '*', l.event_type)
		        or right($5::text, 2) in ('.*', ':*') and starts_with(l.event_type, left($5::text, -1)))
		   and l.emitted_at >= coalesce($6::timestamptz, '-infinity')
		 order by l.event_id
		 limit $7::int) e`, after, t.oldest, seen, t.namespace, t.eventType, timeOrNull(t.since), tailPage)
	if err != nil {
		return 0, 0, db.Error(ctx, "tail", err)
	}
	events, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e event, err error) {
		var text string
		if err = row.Scan(&e.id, &e.xid, &text); err != nil {
			return e, err
		}
		e.record, err = parseRecord([]byte(text))
		return e, err
	})
	if err != nil {
		return 0, 0, db.Error(ctx, "tail", err)
	}
	for _, e := range events {
		if err := t.print(e.record); err != nil {
			return 0, 0, err
		}
		t.seen[e.id], last = e.xid, e.id
		if t.printed++; t.printed == t.limit {
			return 0, 0, errEnough
		}
	}
	return len(events), last, nil
}

// print writes one event as one line, without the last column, which is the transaction.
func (t *tail) print(e record) error {
	last := len(e.names) - 1
	e.names, e.values = e.names[:last], e.values[:last]
	if t.format == asJSON {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(t.Stdout, "%s\n", harmless(line))
		return err
	}
	texts := e.texts()
	head := fmt.Sprintf("%s  %s  %s  %s  ", printable(texts[1]), texts[0], printable(texts[2]), printable(texts[3]))
	payload := printable(texts[4])
	if t.Width != nil {
		payload = cut(payload, max(narrowest, t.Width()-columns(head)))
	}
	_, err := fmt.Fprintln(t.Stdout, head+payload)
	return err
}
