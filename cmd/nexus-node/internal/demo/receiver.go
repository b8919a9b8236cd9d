package demo

import (
	"context"
	"encoding/json"
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

// receiver is the other side of a webhook: it trusts nothing but a good signature, may answer that it is busy at first, and keeps the ids of what
// it got, since an event may come twice.
type receiver struct {
	shy    bool // sends the first POST away
	key    signature.Key
	server *http.Server
	done   chan struct{}

	mu      sync.Mutex
	posts   int
	refused int            // signatures that were not good, and bodies that are no CloudEvents
	got     map[string]int // taken, by id
	busy    string         // the id of the one that was sent away
	told    time.Time      // when that was
	back    time.Duration  // after which it came again
}

// receive starts the receiver and creates the webhook that posts to it.
func (d *demo) receive(ctx context.Context) error {
	url, err := d.listen(ctx, &d.receiver, &receiver{shy: true}, "/stars", func(url string) (string, error) {
		return hooks.Create(ctx, d.owner, namespace, hookName, url, []string{hookType}, &hooks.Options{Insecure: true})
	})
	if err != nil {
		return err
	}
	d.tell("a webhook sends %s to %s, which is busy at first", hookType, url)
	return nil
}

// listen starts a receiver, once create has returned the secret for its URL.
func (d *demo) listen(ctx context.Context, at **receiver, r *receiver, path string, create func(url string) (secret string, err error)) (url string, err error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	r.got, r.done = map[string]int{}, make(chan struct{})
	url = "http://" + l.Addr().String() + path
	secret, err := create(url)
	if err == nil {
		r.key, err = signature.ParseKey(secret)
	}
	if err != nil {
		_ = l.Close()
		return "", err
	}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(r.done)
		_ = r.server.Serve(l) // until close
	}()
	*at = r
	return url, nil
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
	if r.posts++; r.shy && r.posts == 1 {
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
	var event struct {
		Version string `json:"specversion"`
		ID      string `json:"id"`
	}
	if err := json.Unmarshal(body, &event); err != nil || event.Version != "1.0" || event.ID != id {
		r.refused++
		w.WriteHeader(http.StatusBadRequest)
		return
	}
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
