package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/schedule"
)

// transaction is one of an emitter: what it emits, and how it goes about it.
type transaction struct {
	ns     nexus.Namespace
	how    string
	types  []string
	plays  []script
	hold   time.Duration // stays open for so long before it ends
	delay  time.Duration // of the events
	key    string        // of the only event
	cancel bool          // of the one-shot
}

// The ways of emitting.
const (
	howSingle   = "single"
	howBatch    = "batch"
	howLong     = "long transaction"
	howRollback = "rollback"
	howDedupe   = "dedupe"
	howDelayed  = "delayed"
	howOneShot  = "one-shot"
)

// emissions draws what is emitted in a round, about so many events, and one crowd around a killer in each of the namespaces.
func emissions(r *rand.Rand, round, events int, namespaces []nexus.Namespace, killers bool) []transaction {
	var list []transaction
	for n := 0; n < events; {
		t := transaction{ns: namespaces[r.IntN(len(namespaces))]}
		size := 1
		switch p := r.IntN(100); {
		case p < 40:
			t.how = howSingle
		case p < 60:
			t.how, size = howBatch, 2+r.IntN(20)
		case p < 65:
			t.how, size, t.hold = howLong, 1+r.IntN(5), time.Duration(200+r.IntN(2500))*time.Millisecond
		case p < 75:
			t.how, size = howRollback, 1+r.IntN(3)
		case p < 85:
			t.how, t.key = howDedupe, fmt.Sprintf("key %d %d", round, n)
		case p < 95:
			t.how, t.delay = howDelayed, time.Duration(50+r.IntN(3000))*time.Millisecond
		default:
			t.how, t.delay, t.cancel = howOneShot, time.Duration(r.IntN(4000))*time.Millisecond, r.IntN(2) == 0
		}
		for range size {
			t.types, t.plays = append(t.types, someType(r)), append(t.plays, someScript(r))
		}
		list = append(list, t)
		if t.how == howDedupe && r.IntN(2) == 0 {
			list = append(list, t) // somebody else does the same, about now
		}
		n += size
	}
	if killers {
		for i, ns := range namespaces {
			at := len(list) / 4
			list = append(list[:at], append([]transaction{crowd(round+i, ns)}, list[at:]...)...)
		}
	}
	return list
}

// crowd is a batch of one mode that begins with an event that kills its process for good; a later one does so once.
func crowd(which int, ns nexus.Namespace) transaction {
	t := transaction{ns: ns, how: howBatch}
	eventType := prefixes[which%len(prefixes)].prefix + ".crowd"
	for i := range 16 {
		s := script{Do: doOK}
		switch i {
		case 0:
			s = script{Do: doKill, Times: 1_000_000}
		case 9:
			s = script{Do: doKill, Times: 1}
		}
		t.types, t.plays = append(t.types, eventType), append(t.plays, s)
	}
	return t
}

var errRolledBack = errors.New("rolled back as planned")

// emitter runs transactions until the list is at its end. Each is tried until it is known to have committed; what was committed
// without our knowing is in the ledger all the same.
type emitter struct {
	pool *pgxpool.Pool
	stop <-chan struct{} // closed when the faults are over: what remains is emitted without holding
	sent *atomic.Int64
}

func (e emitter) run(ctx context.Context, list <-chan transaction) error {
	for t := range list {
		for {
			err := e.once(ctx, t)
			if err == nil || errors.Is(err, errRolledBack) {
				break
			}
			if errors.Is(err, nexus.ErrInvalid) || errors.Is(err, nexus.ErrForbidden) || errors.Is(err, nexus.ErrLimit) || errors.Is(err, nexus.ErrNotFound) {
				return fmt.Errorf("emit (%s): %w", t.how, err)
			}
			if err := pause(ctx, 100*time.Millisecond, false); err != nil {
				return err
			}
		}
		e.sent.Add(int64(len(t.plays)))
	}
	return nil
}

func (e emitter) once(ctx context.Context, t transaction) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if t.how == howOneShot {
		return e.oneShot(ctx, t)
	}
	return pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		bus := queue.Emitter{Namespace: t.ns, Producer: "chaos"}
		opts := &queue.EmitOptions{DedupeKey: t.key, Delay: t.delay}
		var err error
		if t.how == howBatch {
			err = emitBatch(ctx, tx, bus, t.types, t.plays)
		} else {
			for i := range t.plays {
				if err = emitOne(ctx, tx, bus, t.types[i], t.plays[i], opts, t.how); err != nil {
					break
				}
			}
		}
		if err != nil {
			return err
		}
		if t.hold > 0 {
			timer := time.NewTimer(t.hold)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-e.stop:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if t.how == howRollback {
			return errRolledBack
		}
		return nil
	})
}

const ledgerRow = `insert into chaos.emitted (uid, n, ns, type, do_what, times, want, how, key, duplicate, due_at)
	select u.uid, u.n, $1, u.type, u.do_what, u.times, u.want, $2, nullif($3, ''), u.duplicate,
	       clock_timestamp() + make_interval(secs => $4)
	  from unnest($5::text[]::uuid[], $6::bigint[], $7::text[], $8::text[], $9::bigint[], $10::text[], $11::boolean[]) u(uid, n, type, do_what, times, want, duplicate)
	returning 1`

func emitOne(ctx context.Context, q nexus.DBTX, bus queue.Emitter, eventType string, s script, opts *queue.EmitOptions, how string) error {
	if err := q.QueryRow(ctx, `select nextval('chaos.n')`).Scan(&s.N); err != nil {
		return err
	}
	var o queue.EmitOptions
	if opts != nil {
		o = *opts
	}
	o.Priority = priority(s)
	receipt, err := bus.Emit(ctx, q, eventType, s, &o)
	if err != nil {
		return err
	}
	return note(ctx, q, bus.Namespace, how, o, []string{eventType}, []script{s}, []queue.Receipt{receipt})
}

func emitBatch(ctx context.Context, q nexus.DBTX, bus queue.Emitter, types []string, plays []script) error {
	batch := make([]queue.Emission, len(plays))
	numbered := make([]script, len(plays))
	for i, s := range plays {
		if err := q.QueryRow(ctx, `select nextval('chaos.n')`).Scan(&s.N); err != nil {
			return err
		}
		numbered[i] = s
		batch[i] = queue.Emission{Type: types[i], Payload: s, EmitOptions: queue.EmitOptions{Priority: priority(s)}}
	}
	receipts, err := bus.EmitBatch(ctx, q, batch)
	if err != nil {
		return err
	}
	return note(ctx, q, bus.Namespace, howBatch, queue.EmitOptions{}, types, numbered, receipts)
}

// priority is that of an event, by its number.
func priority(s script) int { return int(s.N % 5) }

// note writes the ledger in the emitting transaction. A worker behind the pooler has no types from the server, so uids go as text.
func note(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, how string, o queue.EmitOptions, types []string, plays []script, receipts []queue.Receipt) error {
	n := len(plays)
	uids, ns64, does, times, wants, doubles := make([]string, n), make([]int64, n), make([]string, n), make([]int64, n), make([]string, n), make([]bool, n)
	for i, s := range plays {
		uids[i], ns64[i], does[i], times[i], wants[i], doubles[i] = receipts[i].EventUID.String(), s.N, s.Do, int64(s.Times), s.want(), receipts[i].Duplicate
	}
	var one int
	return q.QueryRow(ctx, ledgerRow, ns, how, o.DedupeKey, o.Delay.Seconds(), uids, ns64, types, does, times, wants, doubles).Scan(&one)
}

// oneShot schedules an event and may take it back, around the time at which it is due.
func (e emitter) oneShot(ctx context.Context, t transaction) error {
	var id [16]byte
	fireAt := time.Now().Add(t.delay)
	err := pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		uid, err := schedule.ScheduleEvent(ctx, tx, t.ns, t.types[0], t.plays[0], fireAt, nil)
		if err != nil {
			return err
		}
		id = uid
		if _, err := tx.Exec(ctx, `insert into chaos.oneshots (id, ns, fire_at) values ($1, $2, $3)`, id, t.ns, fireAt); err != nil {
			return err
		}
		// Committed or not, the ledger says what is wanted of it; whether it fires is another matter.
		s := t.plays[0]
		_, err = tx.Exec(ctx, `insert into chaos.emitted (uid, n, ns, type, do_what, times, want, how, due_at) values ($1, nextval('chaos.n'), $2, $3, $4, $5, $6, $7, $8)`,
			id, t.ns, t.types[0], s.Do, s.Times, s.want(), howOneShot, fireAt)
		return err
	})
	if err != nil || !t.cancel {
		return err
	}
	if err := pause(ctx, time.Until(fireAt)-20*time.Millisecond, false); err != nil {
		return nil //nolint:nilerr // not cancelled then
	}
	err = pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		outcome, err := schedule.CancelScheduledEvent(ctx, tx, id)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `update chaos.oneshots set outcome = $2 where id = $1`, id, string(outcome))
		return err
	})
	return nilIfAway(err)
}

// nilIfAway forgives a cancel that came to nothing: the ledger knows whether it did.
func nilIfAway(err error) error {
	if err != nil && (errors.Is(err, nexus.ErrInvalid) || strings.Contains(err.Error(), "column")) {
		return err
	}
	return nil
}
