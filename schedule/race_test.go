package schedule_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/schedule"
)

var levels = []pgx.TxIsoLevel{pgx.ReadCommitted, pgx.RepeatableRead, pgx.Serializable}

// inTx runs do in a transaction until that commits, again whenever it lost against another one. Any other error is an answer that
// nobody should get.
func inTx(ctx context.Context, conn *pgx.Conn, level pgx.TxIsoLevel, do func(tx pgx.Tx) error) error {
	for {
		tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: level})
		if err != nil {
			return err
		}
		if err = do(tx); err == nil {
			err = tx.Commit(ctx)
		}
		_ = tx.Rollback(ctx)
		if !lost(err) {
			return err
		}
	}
}

// lost reports a transaction that has to be run again: typed by the call, bare from a commit.
func lost(err error) bool {
	var bare interface{ SQLState() string }
	return errors.Is(err, nexus.ErrRestartTx) || errors.As(err, &bare) && bare.SQLState() == "40001"
}

// scheduleMany writes n events whose time is spread over the time given, and returns their ids in that order.
func scheduleMany(t *testing.T, db *dbtest.DB, n int, from time.Time, over time.Duration) []uuid.UUID {
	t.Helper()
	return dbtest.Get[[]uuid.UUID](db, `select array_agg(core.schedule_event($1, 'x', to_jsonb(g), $2::timestamptz + g * $3::interval) order by g)
		from generate_series(0, $4 - 1) g`, ns, from, over/time.Duration(n), n)
}

// answers counts, by event, what callers were told in transactions that committed.
type answers struct {
	mu   sync.Mutex
	told map[uuid.UUID]map[schedule.Outcome]int
}

func (a *answers) add(id uuid.UUID, o schedule.Outcome) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.told == nil {
		a.told = map[uuid.UUID]map[schedule.Outcome]int{}
	}
	if a.told[id] == nil {
		a.told[id] = map[schedule.Outcome]int{}
	}
	a.told[id][o]++
}

// agree compares what callers were told with what happened: one event and nobody heard "cancelled", or none and one did.
func (a *answers) agree(t *testing.T, db *dbtest.DB, ids []uuid.UUID) {
	t.Helper()
	fired, cancelled := 0, 0
	for _, id := range ids {
		events := dbtest.Get[int](db, `select count(*)::int from core.event_log where event_uid = $1`, id)
		status := dbtest.Get[string](db, `select status from core.scheduled_events where schedule_id = $1`, id)
		told := a.told[id]
		switch {
		case events == 1 && told[schedule.Cancelled] == 0 && told[schedule.NotFound] == 0 && status == "appended":
			fired++
		case events == 0 && told[schedule.Cancelled] == 1 && told[schedule.AlreadyAppended] == 0 && status == "cancelled":
			cancelled++
		default:
			t.Errorf("%s is %s, has %d events, and callers were told %v", id, status, events, told)
		}
	}
	if messages := dbtest.Get[int](db, `select count(*)::int from pgmq.q_core_events_shop`); messages != fired {
		t.Errorf("%d messages for %d events", messages, fired)
	}
	t.Logf("%d fired, %d cancelled", fired, cancelled)
	if fired == 0 || cancelled == 0 {
		t.Error("one side won every race: nothing was raced")
	}
}

// O4: eight workers fire what eight cancellers cancel, each of them every id.
// holds: O4 (three isolation levels), O5 (a quarter rolls back)
func TestCancelAgainstFire(t *testing.T) {
	for _, level := range levels {
		t.Run(string(level), func(t *testing.T) {
			db := newDB(t)
			ids := scheduleMany(t, db, 200, db.Now().Add(-time.Minute), time.Second)
			conns := make([]*pgx.Conn, 16)
			for i := range conns {
				conns[i] = connect(t, db.Pool.Config().ConnConfig.Copy())
			}
			var told answers
			var wg sync.WaitGroup
			start := make(chan struct{})
			errs := make([]error, len(conns))
			for i, conn := range conns {
				r := rand.New(rand.NewSource(int64(i)))
				wg.Go(func() {
					<-start
					if i%2 == 0 {
						errs[i] = fireUntilNoneIsLeft(t.Context(), db, conn, level)
					} else {
						errs[i] = cancelAll(t.Context(), conn, level, ids, r, &told)
					}
				})
			}
			close(start)
			wg.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			told.agree(t, db, ids)
		})
	}
}

func fireUntilNoneIsLeft(ctx context.Context, db *dbtest.DB, conn *pgx.Conn, level pgx.TxIsoLevel) error {
	for left := true; left; {
		err := inTx(ctx, conn, level, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `select core.fire_due_events(3)`)
			return err
		})
		if err != nil {
			return fmt.Errorf("fire: %w", err)
		}
		if err := db.Owner.QueryRow(ctx, `select exists (select from core.scheduled_events where status = 'pending')`).Scan(&left); err != nil {
			return err
		}
	}
	return nil
}

// cancelAll cancels every id, in an order of its own. A quarter of the transactions rolls back, which must mean nothing.
func cancelAll(ctx context.Context, conn *pgx.Conn, level pgx.TxIsoLevel, ids []uuid.UUID, r *rand.Rand, told *answers) error {
	errUndone := errors.New("undone")
	for _, n := range r.Perm(len(ids)) {
		var answer schedule.Outcome
		undo := r.Intn(4) == 0
		err := inTx(ctx, conn, level, func(tx pgx.Tx) (err error) {
			if answer, err = schedule.CancelScheduledEvent(ctx, tx, ids[n]); err == nil && undo {
				err = errUndone
			}
			return err
		})
		if errors.Is(err, errUndone) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cancel: %w", err)
		}
		told.add(ids[n], answer)
	}
	return nil
}

// cancelsFrom is the variable by which this binary becomes a process that cancels; its value is the URL of the database.
const cancelsFrom = "NEXUS_TEST_CANCELS_FROM"

// line is what that process is told, an id and when to cancel it, and what it answers.
type line struct {
	ID      uuid.UUID
	At      time.Time
	Outcome schedule.Outcome
}

// cancelAsAProcess reads lines, cancels each id at its time by the database's clock, and writes what it was told.
func cancelAsAProcess(url string) int {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	level := pgx.TxIsoLevel(os.Args[1])
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for in.More() {
		var l line
		if err = in.Decode(&l); err != nil {
			break
		}
		for due := false; !due && err == nil; {
			err = conn.QueryRow(ctx, `select core.now() >= $1`, l.At).Scan(&due)
		}
		if err == nil {
			err = inTx(ctx, conn, level, func(tx pgx.Tx) (err error) {
				l.Outcome, err = schedule.CancelScheduledEvent(ctx, tx, l.ID)
				return err
			})
		}
		if err == nil {
			err = out.Encode(l)
		}
		if err != nil {
			break
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// O4, O5: another process cancels a thousand events around their time, while this one fires what is due.
// holds: O4
func TestAnotherProcessCancelsAroundTheDueTime(t *testing.T) {
	for _, level := range []pgx.TxIsoLevel{pgx.ReadCommitted, pgx.RepeatableRead} {
		t.Run(string(level), func(t *testing.T) {
			db := newDB(t)
			const n = 1000
			const over = 2 * time.Second
			from := db.Now().Add(over)
			ids := scheduleMany(t, db, n, from, over)
			cancel := exec.CommandContext(t.Context(), os.Args[0], string(level))
			cancel.Env = append(os.Environ(), cancelsFrom+"="+db.URL)
			cancel.Stderr = os.Stderr
			var todo bytes.Buffer
			for i, id := range ids {
				if err := json.NewEncoder(&todo).Encode(line{ID: id, At: from.Add(over * time.Duration(i) / n)}); err != nil {
					t.Fatal(err)
				}
			}
			cancel.Stdin = &todo
			out, err := cancel.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cancel.Start(); err != nil {
				t.Fatal(err)
			}
			fired := make(chan error, 1)
			conn := connect(t, db.Pool.Config().ConnConfig.Copy())
			var told answers
			for answers := json.NewDecoder(out); ; {
				var l line
				if err := answers.Decode(&l); err != nil {
					break // the end, or what Wait says
				}
				if told.told == nil { // the process is up
					go func() { fired <- fireUntilNoneIsLeft(t.Context(), db, conn, pgx.ReadCommitted) }()
				}
				told.add(l.ID, l.Outcome)
			}
			if err := cancel.Wait(); err != nil {
				t.Fatal(err)
			}
			if err := <-fired; err != nil {
				t.Fatal(err)
			}
			if len(told.told) != n {
				t.Errorf("%d answers for %d events", len(told.told), n)
			}
			told.agree(t, db, ids)
		})
	}
}

// O5: a cancel that lost the race in REPEATABLE READ is told so by a typed error, and run again it gives the right answer.
// holds: O5
func TestALostCancelIsARestart(t *testing.T) {
	db := newDB(t)
	for _, level := range levels[1:] {
		t.Run(string(level), func(t *testing.T) {
			id, err := schedule.ScheduleEvent(t.Context(), db.Pool, ns, "x", nil, db.Now(), nil)
			if err != nil {
				t.Fatal(err)
			}
			tx, err := db.Pool.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: level})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback(context.Background()) }()
			if _, err := tx.Exec(t.Context(), `select core.now()`); err != nil { // its snapshot
				t.Fatal(err)
			}
			if n := dbtest.Get[int](db, `select core.fire_due_events()`); n != 1 {
				t.Fatalf("%d events fired", n)
			}
			if got, err := schedule.CancelScheduledEvent(t.Context(), tx, id); !errors.Is(err, nexus.ErrRestartTx) {
				t.Errorf("%q, %v; want ErrRestartTx", got, err)
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, err := schedule.CancelScheduledEvent(t.Context(), db.Pool, id); got != schedule.AlreadyAppended || err != nil {
				t.Errorf("run again: %q, %v", got, err)
			}
		})
	}
}
