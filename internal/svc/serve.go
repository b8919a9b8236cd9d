package svc

import (
	"context"
	"time"

	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/feed"
)

// Stay is how long user code may go on after the end of [Host].Handling. Then it is given up, and what it had in hand is given back.
const Stay = 500 * time.Millisecond

// settled is after which time a service that is begun again has got over what it ended with.
const settled = time.Minute

// Serve is a runner of one long call. f works until its context ends, when the node begins to drain, or until there is no more to do; what it runs
// may finish, see [Host.Handling]. An error ends the node, unless the database is away or cannot do it just now, or it is about something in the data, which
// others need not suffer for: then f is called again.
func Serve(h *Host, f func(ctx context.Context) error) Runner {
	s := &server{host: h, f: f, done: make(chan struct{})}
	s.ctx, s.end = context.WithCancel(context.WithoutCancel(h.Handling))
	return s
}

type server struct {
	host *Host
	f    func(ctx context.Context) error
	ctx  context.Context
	end  context.CancelFunc
	done chan struct{}
}

func (s *server) Start() {
	go func() {
		defer close(s.done)
		for try := 1; ; try++ {
			began := time.Now()
			err := s.host.Patiently(s.ctx, s.f)
			if err == nil || s.ctx.Err() != nil {
				return
			}
			if !db.OfData(err) {
				s.host.Fail(err)
				return
			}
			s.host.Logger.Error("a service cannot go on, and is begun again", "node", s.host.NodeID, "namespace", string(s.host.Namespace), "error", err)
			if time.Since(began) > settled {
				try = 1
			}
			timer := time.NewTimer(feed.Backoff(try))
			select {
			case <-s.ctx.Done():
			case <-timer.C:
			}
			timer.Stop()
		}
	}()
}

func (s *server) Stop(context.Context) {
	s.end()
	<-s.done
}

func (s *server) Keys() []string { return nil }

func (s *server) Wake() {}

func (s *server) LastFetch() time.Time { return time.Time{} }

func (s *server) Stuck() (places int, all time.Time) { return 0, time.Time{} }

func (s *server) Work(context.Context, int) (int, error) { return 0, nil }
