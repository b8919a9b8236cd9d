// Package runstart starts the runs of workflows that triggers and requests ask for. Every node does, whether it has the workflow or not: a start
// is a row in the transaction that acknowledges what asked, and needs no code of users. The database does it all; here is only when to ask.
package runstart

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/seldom"
	"github.com/nexuspg/nexus/internal/svc"
)

const (
	atOnce     = 50
	exchange   = 30 * time.Second
	firstPause = 10 * time.Millisecond
	idleAfter  = 250 * time.Millisecond // of pause, from which on whoever delivers is asked to call
	calledFor  = 10 * time.Second
	callAgain  = 4 * time.Second

	// nobodyAsks is the pause of a namespace in which no trigger and no request has named a workflow.
	nobodyAsks = 5 * time.Second
)

// Service belongs to each node.
type Service struct{}

// Declare implements the node's Service.
func (Service) Declare(context.Context, *svc.Host) error { return nil }

// Runner implements the node's Service.
func (Service) Runner(h *svc.Host) svc.Runner {
	s := &starter{host: h, kick: make(chan struct{}, 1)}
	s.Runner = svc.Serve(h, s.serve)
	return s
}

type starter struct {
	svc.Runner
	host *svc.Host
	kick chan struct{}
	said seldom.Line

	mu   sync.Mutex
	keys []string
}

// Keys implements [svc.Runner].
func (s *starter) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.keys)
}

// Wake implements [svc.Runner].
func (s *starter) Wake() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// Work implements [svc.Runner].
func (s *starter) Work(ctx context.Context, limit int) (done int, err error) {
	for done < limit && ctx.Err() == nil {
		n, err := s.start(ctx, min(limit-done, atOnce), 0)
		if err != nil || n == 0 {
			return done, err
		}
		done += n
	}
	return done, ctx.Err()
}

func (s *starter) serve(ctx context.Context) error {
	pause, called := firstPause, time.Time{}
	for ctx.Err() == nil {
		var wait time.Duration
		if pause >= idleAfter && time.Since(called) >= callAgain {
			wait = calledFor
		}
		n, err := s.start(ctx, atOnce, wait)
		if err != nil {
			s.failed(ctx, err)
			continue
		}
		s.said.Over()
		switch {
		case n > 0:
			pause = firstPause
		case len(s.Keys()) == 0:
			s.wait(ctx, nobodyAsks)
		case wait > 0 && time.Since(called) >= calledFor:
			called = time.Now() // what was delivered before the flag was up calls nobody, so it looks once more
		default:
			if wait > 0 {
				called = time.Now()
			}
			s.wait(ctx, pause)
			pause = min(2*pause, max(s.host.Poll, firstPause), callAgain)
		}
	}
	return nil
}

// failed says that nothing can be started just now, and waits: a node is there for more than this.
func (s *starter) failed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	s.host.Unavailable(err)
	if s.said.Due() {
		s.host.Logger.Warn("cannot start the runs that triggers and requests ask for, trying on", "namespace", string(s.host.Namespace), "error", err)
	}
	s.wait(ctx, nobodyAsks)
}

// start starts what is due; wait is for how long it is to be called then.
func (s *starter) start(ctx context.Context, limit int, wait time.Duration) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	var length *string
	if wait > 0 {
		text := db.Interval(wait)
		length = &text
	}
	var keys []string
	err = s.host.Own.QueryRow(ctx, `select started + failed, queues from core_node.start_runs($1, $2, $3, $4::text::interval)`,
		string(s.host.Namespace), s.host.NodeID, limit, length).Scan(&n, &keys)
	if err != nil {
		return 0, db.Error(ctx, "start_runs", err)
	}
	s.mu.Lock()
	s.keys = keys
	s.mu.Unlock()
	return n, nil
}

// wait waits until somebody calls, for d at most.
func (s *starter) wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-s.kick:
	case <-timer.C:
	}
}
