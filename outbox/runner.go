package outbox

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/places"
	"github.com/nexuspg/nexus/internal/svc"
	"github.com/nexuspg/nexus/internal/work"
)

const (
	exchange   = 30 * time.Second // of one statement of the processor's own
	firstPause = 5 * time.Millisecond
	idleAfter  = 250 * time.Millisecond // of pause, from which on whoever enqueues is asked to call
)

// runner has the lanes of a queue worked, each by one goroutine, and each with a place for a handler.
type runner struct {
	svc.Runner
	p    *Processor
	h    *svc.Host
	kick chan struct{}
	flag svc.Flag

	last    atomic.Int64 // when the database last said which lanes are due
	waiting atomic.Int64 // lanes that were due and found no place

	mu     sync.Mutex
	key    string
	share  *places.Share
	busy   map[int32]bool // lanes
	held   map[int32]*hold
	broken map[int32]breaks
	lost   []unheard
}

// unheard is the token of a fetch whose answer was lost, and until when the lane would stand if that had taken it.
type unheard struct {
	token uuid.UUID
	until time.Time
}

// giveBackLost gives back what fetches may have taken whose answers were lost.
func (r *runner) giveBackLost(ctx context.Context) error {
	r.mu.Lock()
	all := r.lost
	r.lost = nil
	r.mu.Unlock()
	var tokens []uuid.UUID
	for _, l := range all {
		if time.Now().Before(l.until) {
			tokens = append(tokens, l.token)
		}
	}
	if tokens == nil {
		return nil
	}
	err := r.h.Own.QueryRow(ctx, giveBack, string(r.h.Namespace), r.p.queue, tokens).Scan(new(int))
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.lost = append(r.lost, all...)
	}
	return db.Error(ctx, "give_back_lanes", err)
}

const giveBack = "select core_node.give_back_lanes($1, $2, $3)"

// giveBack gives a lane back that is held by one of these tokens, wherever it is, and returns how many these were.
func (r *runner) giveBack(ctx context.Context, tokens ...uuid.UUID) (n int) {
	if err := r.h.Own.QueryRow(ctx, giveBack, string(r.h.Namespace), r.p.queue, tokens).Scan(&n); err != nil {
		return 0 // its lease ends
	}
	return n
}

// breaks is how often messages of a lane have lost their transaction, up to which number.
type breaks struct {
	times int
	to    int64
}

func newRunner(p *Processor, h *svc.Host) *runner {
	r := &runner{p: p, h: h, kick: make(chan struct{}, 1), busy: map[int32]bool{}, held: map[int32]*hold{}, broken: map[int32]breaks{}}
	r.last.Store(time.Now().UnixNano())
	all := h.Places
	if p.alone != nil {
		all = h.LeasedPlaces
	}
	r.share = all.Join(all.Total(), r.stir)
	r.count("handled", 0)
	r.Runner = svc.Serve(h, r.work)
	return r
}

// Keys implements [svc.Runner].
func (r *runner) Keys() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.key == "" {
		return nil
	}
	return []string{r.key}
}

// Wake implements [svc.Runner].
func (r *runner) Wake() {
	r.flag.Called()
	r.stir()
}

// stir has the runner look at once.
func (r *runner) stir() {
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// LastFetch implements [svc.Runner].
func (r *runner) LastFetch() time.Time { return time.Unix(0, r.last.Load()) }

// Stuck implements [svc.Runner].
func (r *runner) Stuck() (int, time.Time) { return r.share.Stuck() }

// Stop implements [svc.Runner].
func (r *runner) Stop(grace context.Context) {
	r.Runner.Stop(grace)
	r.share.Leave()
}

// Work implements [svc.Runner].
func (r *runner) Work(ctx context.Context, limit int) (int, error) {
	defer r.share.Leave()
	of, _, err := r.p.settings(ctx, r.h)
	if err != nil {
		return 0, err
	}
	renewing, end := context.WithCancel(ctx)
	renewed := make(chan struct{})
	go func() { defer close(renewed); r.renew(renewing) }()
	defer func() { end(); <-renewed }()
	done := 0
	for done < limit && ctx.Err() == nil {
		lanes, err := r.due(ctx)
		if err != nil || len(lanes) == 0 {
			return done, err
		}
		before := done
		for _, l := range lanes {
			w := &worker{r: r, lane: l, batch: min(of.batch, limit-done), most: limit - done}
			if err := w.run(ctx); err != nil {
				return done + w.did, err
			}
			if done += w.did; done >= limit {
				break
			}
		}
		if done == before {
			break
		}
	}
	return done, ctx.Err()
}

// work serves the queue until ctx ends. One that somebody drops is waited for, as a consumer is: it is no trouble of the node, which has others.
func (r *runner) work(ctx context.Context) error {
	for dropped := false; ; {
		err := r.serve(ctx, func() {
			if dropped {
				r.h.Logger.Info("the outbox queue is there again", "namespace", string(r.h.Namespace), "queue", r.p.queue)
			}
			dropped = false
		})
		if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code != nexus.CodeNoLane {
			return err
		}
		if !dropped {
			r.h.Logger.Warn("the outbox queue was dropped: its processor gets nothing until it is there again", "namespace", string(r.h.Namespace), "queue", r.p.queue)
		}
		dropped = true
		r.last.Store(time.Now().UnixNano())
		r.wait(ctx, r.h.Poll)
	}
}

// serve has lanes worked until ctx ends; what is in hand then may finish within the grace time. It calls found once there is such a queue.
func (r *runner) serve(ctx context.Context, found func()) error {
	of, key, err := r.p.settings(ctx, r.h)
	if err != nil {
		return err
	}
	if err := r.h.Can(ctx, work.Abilities{Queues: []string{r.p.queue}}); err != nil {
		return err
	}
	found()
	r.mu.Lock()
	r.key = key
	r.mu.Unlock()
	renewing, end := context.WithCancel(context.WithoutCancel(ctx))
	renewed := make(chan struct{})
	go func() { defer close(renewed); r.renew(renewing) }()
	defer func() { end(); <-renewed }()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = r.giveBackLost(ctx) // else the leases end
	}()
	var lanes sync.WaitGroup
	defer lanes.Wait()

	r.flag.Say = func(ctx context.Context, d time.Duration) error { return r.h.Announce(ctx, key, d) }
	r.flag.Busy = max(idleAfter, 2*of.gap)
	pause := firstPause
	for ctx.Err() == nil {
		now := time.Now()
		if err := r.flag.Quieten(ctx, now); err != nil {
			return err
		}
		due, err := r.due(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case r.begin(ctx, of, due, &lanes) > 0:
			pause = firstPause
		case len(due) == 0 && pause >= min(of.longest, idleAfter) && r.flag.IsDue(now):
			// What was enqueued before the flag is up calls nobody, so there is one more look, and as many as the pauses have room for.
			doubt, err := r.flag.Raise(ctx, now)
			if err != nil {
				return err
			}
			if pause = min(of.longest, svc.CallAgain); doubt {
				pause = min(of.longest, firstPause)
			}
			continue
		default:
			pause = min(2*pause, of.longest)
		}
		if r.flag.IsSilent(now) {
			r.wait(ctx, min(pause, of.silent))
			continue
		}
		r.wait(ctx, pause)
	}
	return nil
}

// due asks which lanes nobody holds and may have something.
func (r *runner) due(ctx context.Context) (due []lane, err error) {
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	if err := r.giveBackLost(ctx); err != nil {
		return nil, err
	}
	rows, err := r.h.Own.Query(ctx, "select lane_id, lane from core_node.lanes_due($1, $2)", string(r.h.Namespace), r.p.queue)
	if err != nil {
		return nil, db.Error(ctx, "lanes_due", err)
	}
	defer rows.Close()
	for rows.Next() {
		var l lane
		if err := rows.Scan(&l.id, &l.n); err != nil {
			return nil, db.Error(ctx, "lanes_due", err)
		}
		due = append(due, l)
	}
	if err := rows.Err(); err != nil {
		return nil, db.Error(ctx, "lanes_due", err)
	}
	r.last.Store(time.Now().UnixNano())
	return due, nil
}

// begin has as many of these lanes worked as there are places, and returns how many are being begun.
func (r *runner) begin(ctx context.Context, of pace, due []lane, lanes *sync.WaitGroup) (begun int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var free []lane
	for _, l := range due {
		if !r.busy[l.id] {
			free = append(free, l)
		}
	}
	room := r.share.Hold(len(r.busy)+len(free)) - len(r.busy)
	r.waiting.Store(int64(len(free) - max(room, 0)))
	for _, l := range free[:min(len(free), max(room, 0))] {
		r.busy[l.id] = true
		begun++
		lanes.Go(func() {
			w := &worker{r: r, lane: l, batch: of.batch, gap: of.gap}
			err := w.run(ctx)
			r.mu.Lock()
			delete(r.busy, l.id)
			r.share.Done(len(r.busy) + int(r.waiting.Load()))
			r.mu.Unlock()
			switch {
			case err == nil:
				if r.waiting.Load() > 0 {
					r.stir()
				}
			case db.Unavailable(err):
				r.h.Unavailable(err)
			default:
				r.h.Logger.Warn("a lane could not be worked, another attempt follows", "namespace", string(r.h.Namespace), "queue", r.p.queue,
					"lane", l.n, "error", err)
			}
		})
	}
	return begun
}

// count notes what became of n messages, or that there will be some.
func (r *runner) count(result string, n int) {
	if r.h.Lanes != nil {
		r.h.Lanes(r.p.queue, result, n)
	}
}

// wait waits until somebody calls, for d at most.
func (r *runner) wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-r.kick:
	case <-timer.C:
	}
}
