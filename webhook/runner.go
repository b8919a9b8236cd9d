package webhook

import (
	"context"
	"sync"
	"time"

	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/post"
	"github.com/nexuspg/nexus/internal/seldom"
	"github.com/nexuspg/nexus/internal/svc"
	"github.com/nexuspg/nexus/internal/work"
)

// runner runs the webhooks of a node.
type runner struct {
	host   *svc.Host
	client *post.Client
	look   time.Duration
	ctx    context.Context
	end    context.CancelFunc
	done   chan struct{}
	said   seldom.Line

	mu      sync.Mutex
	hooks   map[string]*hook // by their ids
	untold  bool             // the database does not know yet what the node can do
	leaving sync.WaitGroup
}

func (r *runner) Start() {
	go func() {
		defer close(r.done)
		ticks := time.NewTicker(r.look)
		defer ticks.Stop()
		for {
			if err := r.refresh(); err != nil && r.ctx.Err() == nil {
				if db.Unavailable(err) {
					r.host.Unavailable(err)
				}
				if r.said.Due() {
					r.host.Logger.Warn("cannot look for webhooks, those that run go on", "namespace", string(r.host.Namespace), "error", err)
				}
			}
			select {
			case <-r.ctx.Done():
				return
			case <-ticks.C:
			}
		}
	}()
}

// leaveFor is how long what a webhook has in hand may take when it is dropped or altered. Of one whose queue is gone nothing can be settled.
const leaveFor = 5*time.Minute + margin

// refresh runs what the database describes. Only it changes what runs.
func (r *runner) refresh() error {
	all, err := load(r.ctx, r.host)
	if err != nil {
		return err
	}
	want := map[string]*settings{}
	for _, s := range all {
		want[s.id()] = s
	}
	r.mu.Lock()
	var went, came []*hook
	for name, k := range r.hooks {
		if s := want[name]; s != nil && s.same(k.now.Load()) {
			k.now.Store(s)
			delete(want, name)
			continue
		}
		r.untold = true
		went = append(went, k)
		delete(r.hooks, name)
	}
	for name, s := range want {
		k, err := newHook(r.host, r.client, s)
		if err != nil {
			r.mu.Unlock()
			return err
		}
		r.hooks[name], came, r.untold = k, append(came, k), true
	}
	can, untold := r.abilities(), r.untold
	r.mu.Unlock()
	for _, k := range came {
		k.loop.Start()
	}
	for _, k := range went {
		r.leaving.Go(func() {
			ctx, cancel := context.WithTimeout(r.host.Handling, leaveFor)
			defer cancel()
			k.loop.Finish(ctx)
			k.loop.Stop(ctx)
		})
	}
	if !untold {
		return nil
	}
	if err := r.host.Can(r.ctx, can); err != nil {
		return err
	}
	r.mu.Lock()
	r.untold = false
	r.mu.Unlock()
	return nil
}

// abilities are every type, for each of the webhooks: what is on its queue was chosen by its patterns. Those of a handler are the deliveries that name it.
// The caller holds the mutex.
func (r *runner) abilities() (can work.Abilities) {
	for _, name := range names(r.hooks) {
		s := r.hooks[name].now.Load()
		can.Types, can.Consumers = append(can.Types, s.Pattern), append(can.Consumers, s.Consumer)
	}
	return can
}

func (r *runner) each() (all []*hook) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names(r.hooks) {
		all = append(all, r.hooks[name])
	}
	return all
}

func (r *runner) Keys() (keys []string) {
	for _, k := range r.each() {
		keys = append(keys, k.loop.Key())
	}
	return keys
}

func (r *runner) Wake() {
	for _, k := range r.each() {
		k.loop.Wake()
	}
}

func (r *runner) LastFetch() (last time.Time) {
	for _, k := range r.each() {
		if t := k.loop.LastFetch(); last.IsZero() || t.Before(last) {
			last = t
		}
	}
	return last
}

// Stuck is nothing: a POST ends with its context.
func (r *runner) Stuck() (places int, all time.Time) { return 0, time.Time{} }

func (r *runner) Stop(grace context.Context) {
	defer r.client.Close()
	r.end()
	<-r.done
	var stopping sync.WaitGroup
	for _, k := range r.each() {
		stopping.Go(func() { k.loop.Stop(grace) })
	}
	stopping.Wait()
	r.leaving.Wait()
}

func (r *runner) Work(ctx context.Context, limit int) (done int, err error) {
	defer r.client.Close()
	all, err := load(ctx, r.host)
	for _, s := range all {
		if done >= limit {
			break
		}
		k, err := newHook(r.host, r.client, s)
		if err != nil {
			return done, err
		}
		n, err := k.loop.Work(ctx, limit-done)
		if done += n; err != nil {
			return done, err
		}
	}
	return done, err
}
