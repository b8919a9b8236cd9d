package demo

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestJudgeOfOutlets(t *testing.T) {
	t.Parallel()
	good := func() *Outlets {
		return &Outlets{Audited: 9, Delivered: 2, Booked: invoices, back: busyFor + time.Millisecond, byCron: true, written: invoices}
	}
	if err := good().judge(); err != nil {
		t.Errorf("what is right is called wrong: %v", err)
	}
	for name, spoil := range map[string]func(o *Outlets){
		"an event came to nobody":           func(o *Outlets) { o.Lost = 1 },
		"an effect is there two times":      func(o *Outlets) { o.Doubled = 1 },
		"a signature is bad":                func(o *Outlets) { o.Refused = 1 },
		"what was sent away never came":     func(o *Outlets) { o.back = 0 },
		"Retry-After was not waited for":    func(o *Outlets) { o.back = busyFor - time.Millisecond },
		"an invoice is not handled":         func(o *Outlets) { o.Booked-- },
		"pg_cron's job did not end well":    func(o *Outlets) { o.byCron = false },
		"a node was there for the invoices": func(o *Outlets) { o.served = 1 },
	} {
		o := good()
		spoil(o)
		if err := o.judge(); !errors.Is(err, ErrWrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// outletsOf reads the third line from the end.
func outletsOf(t *testing.T, out string) *Outlets {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) < 3 {
		t.Fatal("there is no line of the consumers")
	}
	o := &Outlets{}
	_, err := fmt.Sscanf(lines[len(lines)-3], "consumers: audit=%d webhook=%d pg_cron=%d lost=%d doubled=%d refused=%d",
		&o.Audited, &o.Delivered, &o.Booked, &o.Lost, &o.Doubled, &o.Refused)
	if err != nil {
		t.Fatalf("%q: %v", lines[len(lines)-3], err)
	}
	return o
}
