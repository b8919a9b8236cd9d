package demo

import (
	"errors"
	"testing"
)

func TestJudge(t *testing.T) {
	good := func() *Result {
		return &Result{Emitted: 10, Handled: 9, DeadLettered: 1, Replayed: 1, sums: []int64{9, 9, 9}}
	}
	if err := good().judge(); err != nil {
		t.Errorf("what is right is called wrong: %v", err)
	}
	for name, spoil := range map[string]func(r *Result){
		"lost":                     func(r *Result) { r.Lost = 1 },
		"doubled":                  func(r *Result) { r.Doubled, r.sums = 1, []int64{10, 10, 10} },
		"one is nowhere":           func(r *Result) { r.Emitted++ },
		"nothing was replayed":     func(r *Result) { r.Replayed = 0 },
		"an aggregate counts more": func(r *Result) { r.sums[2]++ },
	} {
		r := good()
		spoil(r)
		if err := r.judge(); !errors.Is(err, ErrWrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
