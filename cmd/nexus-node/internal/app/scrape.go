package app

import (
	"bytes"
	"net/http"
	"sync"
	"time"
)

// Bounds of /metrics. What is slow is the network of who reads, so a page is rendered whole before it is sent: few renderings at once,
// while others wait their turn, and many readers, of whom the one that has been reading longest gives way to a new one.
const (
	rendersAtOnce = 4
	readersAtOnce = 32
	readWithin    = 10 * time.Second
)

// page is an http.ResponseWriter that keeps what is written.
type page struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (p *page) Header() http.Header         { return p.header }
func (p *page) WriteHeader(status int)      { p.status = status }
func (p *page) Write(b []byte) (int, error) { return p.body.Write(b) }

// reader is a response that is being sent.
type reader struct{ control *http.ResponseController }

// scrapes hands out the pages of a handler.
type scrapes struct {
	next    http.Handler
	renders chan struct{}
	most    int // readers at once

	mu      sync.Mutex
	readers []*reader // the oldest first
}

// patient lets no reader of next keep others from theirs.
func patient(next http.Handler) http.Handler {
	return &scrapes{next: next, renders: make(chan struct{}, rendersAtOnce), most: readersAtOnce}
}

func (s *scrapes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case s.renders <- struct{}{}:
	case <-r.Context().Done():
		return
	}
	p := page{header: w.Header(), status: http.StatusOK}
	func() {
		defer func() { <-s.renders }()
		s.next.ServeHTTP(&p, r)
	}()
	me := s.begin(w)
	defer s.end(me)
	w.WriteHeader(p.status)
	_, _ = w.Write(p.body.Bytes())
	_ = me.control.Flush()
}

// begin takes a place among the readers, if need be from the one that has had it longest.
func (s *scrapes) begin(w http.ResponseWriter) *reader {
	me := &reader{http.NewResponseController(w)}
	// Where there are no deadlines, as in tests of the handler alone, nobody is slow.
	_ = me.control.SetWriteDeadline(time.Now().Add(readWithin))
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.readers) >= s.most {
		_ = s.readers[0].control.SetWriteDeadline(time.Now())
		s.readers = s.readers[1:]
	}
	s.readers = append(s.readers, me)
	return me
}

func (s *scrapes) end(me *reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range s.readers {
		if r == me {
			s.readers = append(s.readers[:i:i], s.readers[i+1:]...)
			return
		}
	}
}
