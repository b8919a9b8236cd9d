package workflow

import (
	"errors"
	"testing"

	"github.com/nexuspg/nexus"
)

// What is taken back does not count, and what comes in place of something counts once.
func TestResultsTogetherAreBounded(t *testing.T) {
	h := &hand{journal: newJournal()}
	h.journal.put("a", make([]byte, keptMost/2))
	h.journal.put("b", make([]byte, keptMost/2))
	h.journal.put("b", make([]byte, keptMost/2))
	if err := h.fits(0); err != nil {
		t.Error(err)
	}
	var e *nexus.Error
	if err := h.fits(1); !errors.As(err, &e) || e.Code != nexus.CodePayloadTooLarge {
		t.Errorf("one byte more: %v", err)
	}
	h.journal.drop("b")
	h.journal.drop("b")
	if err := h.fits(keptMost / 2); err != nil {
		t.Errorf("after one was taken back: %v", err)
	}
}
