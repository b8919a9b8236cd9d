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
}

// Err is what is missing, nil if nothing is known to be.
func (a *Absence) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// note reports whether err says that tables are missing.
func (a *Absence) note(err error, source string, log *slog.Logger) bool {
	if !QueueLost(err) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	// An exchange that touches the one queue alone may go well while another one is missing.
	if a.err == nil && a.said.Due() {
		log.Error("queue tables are missing: nothing is taken or settled until they are made again", "source", source, "error", err)
	}
	a.err = err
	return true
}

// over reports whether tables were missing, now that an exchange went well.
func (a *Absence) over() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.err != nil
	a.err = nil
	return was
}

// QueueLost reports whether err says that tables of a queue are missing, or that its consumer was dropped.
func QueueLost(err error) bool {
	e, ok := errors.AsType[*nexus.Error](err)
	return ok && (e.Code == nexus.CodeQueueLost || e.Code == nexus.CodeNoQueue)
}

// tableGone reports whether err is what whoever waited for a table hears when it is dropped, as some exchanges of one runner may have;
// the next one hears what is missing. failures counts them.
func tableGone(err error, failures int) bool {
	e, ok := errors.AsType[*nexus.Error](err)
	return ok && e.Code == "42P01" && failures <= maxWaiting
}

// maxWaiting is more than a runner has exchanges under way at once: results, what goes alone, and a claim.
const maxWaiting = 5
