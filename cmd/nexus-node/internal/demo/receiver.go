package demo

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	hooks "github.com/nexuspg/nexus/webhook"
	"github.com/nexuspg/nexus/webhook/signature"
)

const (
	hookName = "stars"
	hookType = "github.star.*"

	// busyFor is what the receiver says in Retry-After. The webhook's own policy would have it wait for half a minute.
	busyFor = time.Second
)

// receiver is the other side of the webhook: it trusts nothing but a good signature, answers that it is busy at first, and keeps the ids of what
// it got, since an event may come twice.
type receiver struct {
	key    signature.Key
	server *http.Server
	done   chan struct{}

	mu      sync.Mutex
	posts   int
	refused int            // signatures that were not good
	got     map[string]int // taken, by id
	busy    string         // the id of the one that was sent away
	told    time.Time      // when that was
	back    time.Duration  // after which it came again
}

// receive starts the receiver and creates the webhook that posts to it.
func (d *demo) receive(ctx context.Context) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	r := &receiver{got: map[string]int{}, done: make(chan struct{})}
	secret, err := hooks.Create(ctx, d.owner, namespace, hookName, "http://"+l.Addr().String()+"/stars", []string{hookType}, &hooks.Options{Insecure: true})
	if err == nil {
		r.key, err = signature.ParseKey(secret)
	}
	if err != nil {
		_ = l.Close()
		return err
	}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(r.done)
		_ = r.server.Serve(l) // until close
	}()
	d.receiver = r
	d.tell("a webhook sends %s to %s, which is busy at first", hookType, l.Addr())
	return nil
}

func (r *receiver) close() {
	_ = r.server.Close()
	<-r.done
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 8<<20))
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.posts++; r.posts == 1 {
		r.busy, r.told = req.Header.Get(signature.HeaderID), time.Now()
		w.Header().Set("Retry-After", strconv.Itoa(int(busyFor.Seconds())))
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if err := signature.Verify(req.Header, body, time.Now(), r.key); err != nil {
		r.refused++
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	id := req.Header.Get(signature.HeaderID)
	if id == r.busy && r.back == 0 {
		r.back = time.Since(r.told)
	}
	r.got[id]++
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("the receiver took %d events, each with a good signature; the one that it sent away for %s came again after %s",
		len(r.got), busyFor, r.back.Round(time.Millisecond))
}

// ids are those of the events that it took.
func (r *receiver) ids() (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.got {
		ids = append(ids, id)
	}
	return ids
}
