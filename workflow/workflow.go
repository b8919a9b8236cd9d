package workflow

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"sync"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/invoke"
)

// Workflow is a list of named steps that turns an In into an Out. Declare it once per process, and give it to a node by Add. Its fields may be
// set until the node runs.
type Workflow[In, Out any] struct {
	Version     int               // tells people which code a run is of; what fits is judged by the steps
	Retry       nexus.RetryPolicy // of steps that say nothing; zero fields: 3 attempts, 1 s doubling to 60 s
	Timeout     time.Duration     // of one attempt of a step that says nothing; 0: the node's; negative: none
	Lease       time.Duration     // how long a run waits for a process that died; 0: the node's, 30 s by default; 1 s to a day
	Slots       int               // runs and branches that this node has in hand at once; 0: 50
	Concurrency int               // runs that nodes may have in hand at once, all of them together; what sleeps or waits is in no hand; 0: any number

	block Block[In]
	flow  *flow
}

// settings are the fields of a workflow that a runner goes by.
type settings struct {
	version, slots, concurrency int
	retry                       nexus.RetryPolicy
	timeout, lease              time.Duration
}

// New begins a workflow. Names are 1 to 63 of a-z, 0-9, _ and -, and begin with a letter.
func New[In, Out any](name string) *Workflow[In, Out] {
	f := &flow{name: name, byName: map[string]*node{}, zero: sync.OnceValues(func() (string, error) { return marshal(*new(Out)) })}
	f.root = &node{kind: rootKind, flow: f}
	f.flat = flat(reflect.TypeFor[In]())
	f.decode = func(input []byte) (any, error) {
		var in In
		err := decode(input, &in)
		return in, err
	}
	w := &Workflow[In, Out]{flow: f, block: Block[In]{n: f.root}}
	f.set = func() settings {
		return settings{version: w.Version, slots: w.Slots, concurrency: w.Concurrency, retry: w.Retry, timeout: w.Timeout, lease: w.Lease}
	}
	return w
}

// marshal makes v JSON in a goroutine of its own, which the type's own code may panic in or end.
func marshal(v any) (text string, _ error) {
	var e invoke.End
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Catch(func() (err error) {
			text, err = encode("commit_steps", "output", v)
			return err
		})
	}()
	<-done
	return text, e.Err
}

// flat reports whether a copy of such a value shares nothing with it.
func flat(t reflect.Type) bool {
	switch k := t.Kind(); k {
	case reflect.Struct:
		for i := range t.NumField() {
			if !flat(t.Field(i).Type) {
				return false
			}
		}
		return true
	case reflect.Array:
		return flat(t.Elem())
	default:
		return k == reflect.String || k >= reflect.Bool && k <= reflect.Complex128 && k != reflect.Uintptr
	}
}

// Returns makes the result from the finished run. Without it the result is Out's zero value.
func (w *Workflow[In, Out]) Returns(fn func(r *Run[In]) (Out, error)) {
	w.flow.mustBeOpen("Returns")
	if w.flow.returns != nil {
		w.flow.fault("Returns was called twice")
	}
	if fn == nil {
		w.flow.fault("Returns has no function")
		return
	}
	w.flow.returns = func(c *call) (any, error) {
		r, err := runOf[In](c)
		if err != nil {
			return nil, err
		}
		return fn(r)
	}
}

// Name is what it was declared by.
func (w *Workflow[In, Out]) Name() string { return w.flow.name }

// Steps is where a step can be added: a [Workflow], or a [Block] of one.
type Steps[In any] interface{ steps() *Block[In] }

// Block is a list of steps inside a Sequence, Parallel, Route or Loop.
type Block[In any] struct{ n *node }

func (b *Block[In]) steps() *Block[In]         { return b }
func (w *Workflow[In, Out]) steps() *Block[In] { return &w.block }

// compiled is the declaration as JSON, or what is wrong with it.
func (f *flow) compiled() (string, error) {
	if err := f.check(); err != nil {
		return "", err
	}
	s := f.set()
	if s.version < 0 || s.version > math.MaxInt32 || s.slots < 0 || s.concurrency < 0 || s.lease != 0 && (s.lease < time.Second || s.lease > 24*time.Hour) {
		return "", fmt.Errorf("workflow %s: Version, Slots and Concurrency are not negative, Version is 2,147,483,647 at most, and Lease is 1 s to a day, or 0 for the node's", f.name)
	}
	steps, err := json.Marshal(compile(f.root.steps))
	return string(steps), err
}
