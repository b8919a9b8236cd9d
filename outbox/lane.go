package outbox

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/feed"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/work"
)

// lane is one of a queue.
type lane struct {
	id int32 // in the database
	n  int   // among those of its queue
}

// together is how long messages that are handled one by one may take before they are settled, and others may have the place: the transaction is as
// short as that, and none of them lacks the time that those before it took.
const together = time.Second

// worker works one lane until it has no more, or somebody else wants the place.
type worker struct {
	r     *runner
	lane  lane
	batch int
	gap   time.Duration
	most  int // messages; 0: any number
	did   int

	token uuid.UUID
	from  int64   // number of the last message that had ended when the batch came
	items []*Item // lent to the handler, which may do with them what it likes
	ids   []int64
	done  int // of items, and not settled yet

	unsure bool      // whether something was sent that settles, and the answer was lost
	next   uuid.UUID // the token that the lane has if it was a fetch
}

// run fetches, handles and settles. A batch that went well is settled by the next fetch.
func (w *worker) run(ctx context.Context) error {
	defer w.forget()
	for {
		looked := time.Now()
		if err := w.fetch(ctx); err != nil || len(w.items) == 0 {
			switch {
			case lost(err):
				w.report(err)
				err = nil
			case err != nil && w.token != uuid.Nil: // what was done may not be settled, and the lane would stand until its lease ends
				return errors.Join(err, w.settle(work.Result{Action: work.Release}, 0, 1))
			}
			return err
		}
		got := len(w.items)
		more, err := w.handle(ctx)
		if err != nil || !more {
			return err
		}
		w.did += w.done
		full := w.most > 0 && w.did >= w.most
		if got < w.batch/4 && !full && !w.wanted() {
			pause(ctx, w.gap-time.Since(looked))
		}
		if ctx.Err() != nil || full || w.wanted() {
			return w.settle(work.Result{Action: work.Release}, 0, 1)
		}
	}
}

// wanted reports whether another lane or consumer waits for the place.
func (w *worker) wanted() bool { return w.r.waiting.Load() > 0 || w.r.share.Others() }

// pause waits for d, if that is positive, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// fetch settles what was done and gets the next messages. It is the whole of its transaction. What the node has begun to settle is settled
// also while it drains.
func (w *worker) fetch(ctx context.Context) error {
	if w.token != uuid.Nil {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	lease, limit := w.r.p.lease(w.r.h), w.batch
	if w.most > 0 {
		limit = min(limit, w.most-w.did)
	}
	sent := time.Now()
	next := uuid.New()
	rows, err := w.r.h.Own.Query(ctx, `select token, seq, message_id, coalesce(key, ''), body, body_type, created_at, attempt
		from core_node.fetch_lane($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		w.lane.id, w.r.h.NodeID, limit, lease, nullable(w.token), w.from, w.done, w.lastID(), next)
	if err != nil {
		w.unheard(err, sent.Add(lease), next)
		return db.Error(ctx, "fetch_lane", err)
	}
	var token uuid.UUID
	var ids []int64
	items, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*Item, error) {
		m := &Item{Lane: w.lane.n, Message: Message{Queue: w.r.p.queue}}
		err := row.Scan(&token, &m.Seq, &m.ID, &m.Key, &m.Body, &m.Type, &m.CreatedAt, &m.Attempt)
		ids = append(ids, m.ID)
		return m, err
	})
	if err != nil {
		w.unheard(err, sent.Add(lease), next)
		return db.Error(ctx, "fetch_lane", err)
	}
	w.forget()
	if w.done > 0 {
		w.r.count("handled", w.done)
	}
	w.items, w.ids, w.done, w.token = items, ids, 0, token
	if len(w.items) > 0 {
		w.r.flag.Fetched()
		w.from = w.items[0].Seq - 1
		w.r.mu.Lock()
		w.r.held[w.lane.id] = &hold{token: w.token, until: sent.Add(lease)}
		w.r.mu.Unlock()
	}
	return nil
}

// unheard notes a fetch that failed without a word of the database, which may have done it: with a new token, by which the lane would stand until then.
func (w *worker) unheard(err error, until time.Time, next uuid.UUID) {
	if !db.Unanswered(err) {
		return
	}
	w.unsure, w.next = w.token != uuid.Nil, next
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	w.r.lost = append(w.r.lost, unheard{next, until})
}

// nullable is NULL for no token.
func nullable(token uuid.UUID) *uuid.UUID {
	if token == uuid.Nil {
		return nil
	}
	return &token
}

// lastID is that of the last message that was done and not settled; nil: none was.
func (w *worker) lastID() *int64 {
	if w.done == 0 {
		return nil
	}
	return &w.ids[w.done-1]
}

// forget says that the lane is not in hand any more.
func (w *worker) forget() {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	delete(w.r.held, w.lane.id)
}

// handle has the messages handled. more says that all went well and the lane is still in hand.
func (w *worker) handle(ctx context.Context) (more bool, err error) {
	if w.r.p.alone != nil {
		return w.leased(ctx)
	}
	return w.inTx()
}

// leased has one message handled after the other, until ctx ends.
func (w *worker) leased(ctx context.Context) (more bool, err error) {
	began := time.Now()
	for i, m := range w.items {
		if i > 0 && (ctx.Err() != nil || time.Since(began) > together && w.wanted()) {
			w.did += i
			return false, w.settle(work.Result{Action: work.Release}, 0, 1)
		}
		e, late, cause := w.call(func(ctx context.Context, _ func() bool) error { return w.r.p.alone(ctx, m) })
		if res := invoke.Judge(e, cause, w.r.p.timeout(w.r.h)); res.Action != work.Ack {
			w.stuck(late, nil)
			w.did += i
			return false, w.settle(res, 0, 1)
		}
		w.done = i + 1
	}
	return true, nil
}

// inTx has the messages handled in one transaction, in which they are settled too.
func (w *worker) inTx() (more bool, err error) {
	parent := w.r.h.Handling
	tx, err := invoke.Begin(parent, w.r.h.Handlers, w.r.h.Session, false, "")
	if err != nil {
		if parent.Err() == nil && !db.Unavailable(err) {
			return false, err
		}
		return false, errors.Join(err, w.settle(work.Result{Action: work.Release, After: time.Second}, 0, 1))
	}
	at, of, done, most := 0, len(w.items), len(w.items), together
	if limit := w.r.p.timeout(w.r.h); limit > 0 {
		most = min(most, limit/10)
	}
	began := time.Now()
	e, late, cause := w.call(func(ctx context.Context, over func() bool) error {
		if w.r.p.batch != nil {
			lent, back := tx.Lend()
			defer back()
			return w.r.p.batch(ctx, lent, slices.Clone(w.items))
		}
		of = 1
		for i, m := range w.items {
			if over() {
				return nil
			}
			at = i
			lent, back := tx.Lend()
			err := w.r.p.one(ctx, lent, m)
			back()
			if err == nil {
				err = tx.Fault()
			}
			if err != nil {
				return err
			}
			if done = i + 1; time.Since(began) > most {
				return nil
			}
		}
		return nil
	})
	if late != nil {
		w.stuck(late, tx.Discard)
		return false, w.settle(invoke.Judge(e, cause, w.r.p.timeout(w.r.h)), 0, len(w.items))
	}
	if e.Err == nil {
		e.Err = tx.Fault()
	}
	res := invoke.Judge(e, cause, w.r.p.timeout(w.r.h))
	if tx.Ended() {
		res = invoke.Ended(invoke.ErrEnded, e.Err)
	} else if e.Err != nil && tx.Broken(e.Err) {
		res = w.broken(e.Err)
	}
	if res.Action != work.Ack {
		tx.Close(parent)
		return false, w.settle(res, at, of)
	}
	last := w.ids[done-1]
	err = tx.Commit(context.WithoutCancel(parent), func(b *pgx.Batch) {
		b.Queue("select core_node.settle_lane($1, $2, $3, $4, $5, $6)", w.lane.id, w.r.h.NodeID, w.token, w.from, done, last)
	})
	broken := err != nil && tx.Broken(err)
	tx.Close(context.WithoutCancel(parent))
	if lost(err) {
		w.report(err)
		return false, nil
	}
	w.unsure = err != nil && db.Unavailable(err)
	if errors.Is(err, invoke.ErrEnded) {
		return false, w.settle(invoke.Ended(invoke.ErrEnded, nil), 0, done)
	}
	if err != nil {
		// Whether it committed may not be known. If it did, the lane is further than this says, and it changes nothing.
		res := work.Result{Action: work.Retry, Reason: work.ReasonError, Error: "commit: " + err.Error()}
		if broken {
			res = w.broken(err)
		}
		return false, w.settle(res, 0, done)
	}
	w.did += done
	w.r.count("handled", done)
	w.from += int64(done)
	w.items = nil
	return true, nil
}

// broken is the result of messages whose transaction was lost through no fault of their handlers: they are given back, though not for ever.
func (w *worker) broken(err error) work.Result {
	if db.Unavailable(err) {
		w.r.h.Unavailable(err)
	}
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	before := w.r.broken[w.lane.id]
	if w.from >= before.to {
		before = breaks{}
	}
	w.r.broken[w.lane.id] = breaks{before.times + 1, max(before.to, w.from+int64(len(w.items)))}
	return invoke.BrokenAgain(before.times, err)
}

// call runs f as the handler's, and watches it. late is closed when a handler that was given up comes back; nil for all others.
func (w *worker) call(f func(ctx context.Context, over func() bool) error) (e invoke.End, late <-chan struct{}, cause error) {
	call := invoke.Apart()
	root := invoke.Root{Parent: w.r.h.Handling}
	ctx, _ := call.Begin(&root, time.Now(), w.r.p.timeout(w.r.h))
	w.watch(call)
	e, late = call.Wait(func() error { return f(ctx, call.GivenUp) })
	cause = context.Cause(ctx)
	w.watch(nil)
	if late == nil {
		call.Release()
		root.Close()
	}
	return e, late, cause
}

func (w *worker) watch(call *invoke.Call) {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	if k := w.r.held[w.lane.id]; k != nil {
		k.call = call
	}
}

// stuck counts a place whose handler does not come back, until it does.
func (w *worker) stuck(late <-chan struct{}, then func()) {
	if late == nil {
		return
	}
	w.r.mu.Lock()
	w.r.share.Stick(1)
	w.r.mu.Unlock()
	if then != nil {
		then()
	}
	go func() {
		<-late
		w.r.mu.Lock()
		defer w.r.mu.Unlock()
		w.r.share.Stick(-1)
	}()
}

// settle says what became of the messages: those that are done, and then a verdict on the next one, or on one of several. While the database
// is away it goes on trying, as long as the lane is held: else that would stand until its lease ends.
func (w *worker) settle(res work.Result, safe, of int) error {
	for try := 1; ; try++ {
		err := w.settleOnce(res, safe, of)
		if err == nil || !db.Passes(err) && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if db.Unavailable(err) {
			w.r.h.Unavailable(err)
		}
		if try > 1 && w.r.h.Handling.Err() != nil || !w.holds() {
			return err
		}
		pause(context.WithoutCancel(w.r.h.Handling), feed.Backoff(try))
	}
}

// holds reports whether the lease of the lane goes on.
func (w *worker) holds() bool {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	k := w.r.held[w.lane.id]
	return k != nil && time.Now().Before(k.until)
}

func (w *worker) settleOnce(res work.Result, safe, of int) error {
	ctx, cancel := context.WithTimeout(context.Background(), exchange)
	defer cancel()
	if res.Action == work.Release && of > 1 {
		safe, of = 0, 1
	}
	var after *time.Duration
	if res.Exact || res.Action == work.Release {
		after = &res.After
	}
	var outcome string
	err := w.r.h.Own.QueryRow(ctx, "select core_node.settle_lane($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
		w.lane.id, w.r.h.NodeID, w.token, w.from, w.done, w.lastID(), res.Action.String(), text(res.Reason), text(res.Error), after, safe, of).
		Scan(&outcome)
	if err != nil && !lost(err) {
		w.unsure = w.unsure || db.Unavailable(err)
	}
	if err = db.Error(ctx, "settle_lane", err); lost(err) {
		if w.unsure && (w.r.giveBack(ctx, w.token, w.next) > 0 || w.holds()) {
			if w.done > 0 {
				w.r.count("handled", w.done)
			}
			return nil // what was sent before had been done, and the answer was lost
		}
		w.report(err)
		return nil
	}
	if err == nil {
		if w.done > 0 {
			w.r.count("handled", w.done)
		}
		if len(w.items) > w.done {
			w.r.count(outcome, 1)
		}
	}
	if err == nil && outcome != "released" && outcome != "ok" {
		w.r.h.Logger.Warn("a message of a lane failed", "namespace", string(w.r.h.Namespace), "queue", w.r.p.queue, "lane", w.lane.n,
			"seq", w.from+int64(w.done)+1, "outcome", outcome, "reason", res.Reason, "error", res.Error)
	}
	return err
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// report says that what was done for a lane is done again elsewhere.
func (w *worker) report(err error) {
	w.r.count("lost", max(len(w.items), 1))
	w.r.h.Logger.Warn("the lease of a lane was lost", "namespace", string(w.r.h.Namespace), "queue", w.r.p.queue, "lane", w.lane.n, "from", w.from,
		"error", err, "family", nexus.ErrLeaseLost.Error())
}
