package feed

import (
	"errors"
	"log/slog"
	"sync"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/seldom"
)

// Absence is what a node knows of tables of its queue that are missing. Somebody has to make them again, which may take long, and until
// then every exchange of every runner fails: so the log has one line when it begins and one when it is over.
type Absence struct {
	mu   sync.Mutex
	err  error // what the database says; nil while all are there, as far as is known
	said seldom.Line

	dropped map[string]bool // sources whose consumer somebody dropped, which is no trouble of the node
}

// Err is what is missing, nil if nothing is known to be.
func (a *Absence) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// note reports whether err says that tables are missing, or that the consumer was dropped.
func (a *Absence) note(err error, source string, log *slog.Logger) bool {
	if !QueueLost(err) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if Dropped(err) {
		if !a.dropped[source] {
			log.Warn("the consumer was dropped: its handlers get nothing until it is there again", "source", source)
			if a.dropped == nil {
				a.dropped = map[string]bool{}
			}
			a.dropped[source] = true
		}
		return true
	}
	// An exchange that touches the one queue alone may go well while another one is missing.
	if a.err == nil && a.said.Due() {
		log.Error("queue tables are missing: nothing is taken or settled until they are made again", "source", source, "error", err)
	}
	a.err = err
	return true
}

// over says what was missing and is back, now that an exchange with the source went well; "" for nothing.
func (a *Absence) over(source string) (back string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.err != nil:
		back = "the queue's tables are back"
	case a.dropped[source]:
		back = "the consumer is there again"
	}
	a.err = nil
	delete(a.dropped, source)
	return back
}

// QueueLost reports whether err says that tables of a queue are missing, or that its consumer was dropped.
func QueueLost(err error) bool { return has(err, nexus.CodeQueueLost) || Dropped(err) }

// Dropped reports whether err says that the consumer was dropped.
func Dropped(err error) bool { return has(err, nexus.CodeNoQueue) }

func has(err error, code string) bool {
	e, ok := errors.AsType[*nexus.Error](err)
	return ok && e.Code == code
}

// tableGone reports whether err is what whoever waited for a table hears when it is dropped, as some exchanges of one runner may have;
// the next one hears what is missing. failures counts them.
func tableGone(err error, failures int) bool {
	e, ok := errors.AsType[*nexus.Error](err)
	return ok && e.Code == "42P01" && failures <= maxWaiting
}

// maxWaiting is more than a runner has exchanges under way at once: results, what goes alone, and a claim.
const maxWaiting = 5
