package svc

import (
	"context"
	"time"
)

// Stay is how long user code may go on after the end of [Host].Handling. Then it is given up, and what it had in hand is given back.
const Stay = 500 * time.Millisecond

// Serve is a runner of one long call. f works until its context ends, when the node begins to drain, or until there is no more to do; what it runs
// may finish, see [Host.Handling]. An error ends the node, unless the database is away or cannot do it just now: then f is called again.
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
		err := s.host.Patiently(s.ctx, s.f)
		if err != nil && s.ctx.Err() == nil {
			s.host.Fail(err)
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
