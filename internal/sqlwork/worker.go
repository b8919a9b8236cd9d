package sqlwork

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/svc"
)

const (
	// calledFor is how long emitters believe that the worker waits; it says so again well before, however long Config.Poll is.
	calledFor = 10 * time.Second
	callAgain = 4 * time.Second

	idleAfter = 500 * time.Millisecond // of pause
)

// worker has one handler after the other called. Where nothing is due it lets emitters call it, by the queues of these handlers.
type worker struct {
	svc.Runner
	*Service
	host *svc.Host
	kick chan struct{} // somebody called
	session

	mu   sync.Mutex
	keys []string
}

// Keys implements [svc.Runner].
func (w *worker) Keys() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.keys)
}

// Wake implements [svc.Runner].
func (w *worker) Wake() {
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

// Work implements [svc.Runner].
func (w *worker) Work(ctx context.Context, limit int) (int, error) {
	defer w.drop()
	for ctx.Err() == nil && w.did.All() < limit {
		b, err := w.next(ctx, min(atOnce, limit-w.did.All()))
		if err == nil && b == nil {
			var undone bool
			if undone, err = w.undo(ctx); undone {
				continue
			}
		}
		if err != nil || b == nil {
			return w.did.All(), err
		}
		if err := w.run(ctx, b); err != nil {
			return w.did.All(), err
		}
	}
	return w.did.All(), ctx.Err()
}

// work claims and runs until ctx ends. What is claimed by then is run: it may finish within the grace time.
func (w *worker) work(ctx context.Context) error {
	pause, called := firstPause, time.Time{}
	for ctx.Err() == nil {
		b, err := w.next(ctx, atOnce)
		undone := false
		if err == nil && b == nil && ctx.Err() == nil && w.conn != nil {
			undone, err = w.undo(ctx)
		}
		switch {
		case ctx.Err() != nil && b == nil:
			continue
		case err != nil:
			return err
		case undone:
			pause = firstPause
			continue
		case b == nil && pause >= min(w.host.Poll, idleAfter) && time.Since(called) >= callAgain:
			// It has been idle for a while. What was emitted before the flag is up calls nobody, so it looks once more.
			if err := w.call(ctx); err != nil {
				return err
			}
			called, pause = time.Now(), min(w.host.Poll, callAgain)
			continue
		case b == nil:
			w.wait(ctx, pause)
			pause = min(2*pause, w.host.Poll, callAgain)
			continue
		}
		pause = firstPause
		if err := w.run(w.host.Handling, b); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// call asks whoever emits for the handlers of the namespace to call.
func (w *worker) call(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	var keys []string
	if err := w.host.Own.QueryRow(ctx, `select core_node.wait_for_sql($1, $2)`, string(w.host.Namespace), calledFor).Scan(&keys); err != nil {
		return db.Error(ctx, "wait_for_sql", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keys = keys
	return nil
}

// next claims, on a new connection where the one before is gone.
func (w *worker) next(ctx context.Context, limit int) (*batch, error) {
	if w.conn == nil || w.conn.IsClosed() {
		conn, err := w.connect(ctx)
		if err != nil {
			return nil, err
		}
		w.conn = conn
	}
	b, err := w.claim(ctx, limit)
	if err != nil {
		w.drop()
	}
	return b, err
}

// wait waits until somebody calls, for d at most.
func (w *worker) wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-w.kick:
	case <-timer.C:
	}
}
