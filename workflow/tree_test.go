package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
)

type none = struct{}

func nothing(context.Context, *Run[none]) (int, error) { return 0, nil }

// holds: W1 (declarations)
// What is declared wrongly is refused by the name of the step.
func TestWrongDeclarations(t *testing.T) {
	t.Parallel()
	for want, declare := range map[string]func(w *Workflow[none, int]){
		`it has no steps`: func(*Workflow[none, int]) {},
		`two steps have the name "a", a step and a sleep`: func(w *Workflow[none, int]) { Step(w, "a", nothing); Sleep(w, "a", time.Second) },
		`two steps have the name "a", a loop and a step`: func(w *Workflow[none, int]) {
			Step(Loop(w, "a", 2, func(*Run[none]) (bool, error) { return true, nil }), "a", nothing)
		},
		`step "A b": a name is 1 to 63`:    func(w *Workflow[none, int]) { Step(w, "A b", nothing) },
		`step "returns": this name`:        func(w *Workflow[none, int]) { Step(w, "returns", nothing) },
		`parallel "p" is empty`:            func(w *Workflow[none, int]) { Parallel(w, "p") },
		`sequence "s" is empty`:            func(w *Workflow[none, int]) { Step(Parallel(w, "p"), "a", nothing); Sequence(w, "s") },
		`step "a" has two compensations`:   func(w *Workflow[none, int]) { undoTwice(Step(w, "a", nothing)) },
		`step "a" has CompensateOnFailure`: func(w *Workflow[none, int]) { Step(w, "a", nothing).CompensateOnFailure = true },
		`step "s": a signal has nothing to compensate`: func(w *Workflow[none, int]) {
			WaitForSignal[int](w, "s", 0).CompensateSQL("public.f")
		},
		`step "s": -1s is negative`: func(w *Workflow[none, int]) { Sleep(w, "s", -time.Second) },
		`loop "l": its bound is 0`: func(w *Workflow[none, int]) {
			Step(Loop(w, "l", 0, func(*Run[none]) (bool, error) { return true, nil }), "a", nothing)
		},
		`map "m": 1001 branches at once`: func(w *Workflow[none, int]) {
			Map(w, "m", 1001, func(*Run[none]) ([]int, error) { return nil, nil }, func(context.Context, *Run[none], int) (int, error) { return 0, nil })
		},
		`the database cannot keep case "a\x00"`: func(w *Workflow[none, int]) {
			Step(Route(w, "r", func(*Run[none]) (string, error) { return "x", nil })("a\x00"), "a", nothing)
		},
		`Version is 2,147,483,647 at most`: func(w *Workflow[none, int]) { Step(w, "a", nothing); w.Version = 1 << 40 },
		`case "x" is empty`: func(w *Workflow[none, int]) {
			Route(w, "r", func(*Run[none]) (string, error) { return "x", nil })("x")
		},
		`route "r" is empty`: func(w *Workflow[none, int]) { Route(w, "r", func(*Run[none]) (string, error) { return "x", nil }) },
		`items of a Map are compensated one by one`: func(w *Workflow[none, int]) {
			Map(w, "m", 2, func(*Run[none]) ([]int, error) { return nil, nil }, func(context.Context, *Run[none], int) (int, error) { return 0, nil }).
				CompensateSQL("public.f")
		},
		`Returns was called twice`: func(w *Workflow[none, int]) {
			Step(w, "a", nothing)
			w.Returns(func(*Run[none]) (int, error) { return 0, nil })
			w.Returns(func(*Run[none]) (int, error) { return 0, nil })
		},
		`Returns has no function`:                     func(w *Workflow[none, int]) { Step(w, "a", nothing); w.Returns(nil) },
		`step "a" has no function of the database`:    func(w *Workflow[none, int]) { Step(w, "a", nothing).CompensateSQL("") },
		`step "a" has no function`:                    func(w *Workflow[none, int]) { Step[none, int](w, "a", nil) },
		`tx "a" has no function`:                      func(w *Workflow[none, int]) { TxStep[none, int](w, "a", nil) },
		`sleep_until "a" has no function`:             func(w *Workflow[none, int]) { SleepUntil[none](w, "a", nil) },
		`map "a" has no function`:                     func(w *Workflow[none, int]) { Map[none, int, int](w, "a", 1, nil, nil) },
		`route "r" has no function`:                   func(w *Workflow[none, int]) { Step(Route[none](w, "r", nil)("x"), "a", nothing) },
		`loop "l" has no function`:                    func(w *Workflow[none, int]) { Step(Loop[none](w, "l", 1, nil), "a", nothing) },
		`child "c" has no workflow`:                   func(w *Workflow[none, int]) { Child[none, none, int](w, "c", nil, nil) },
		`step "a" has no function that undoes it`:     func(w *Workflow[none, int]) { Step(w, "a", nothing).Compensate(nil) },
		`step "s": 876000h0m0s is more than 30 years`: func(w *Workflow[none, int]) { Sleep(w, "s", 100*365*24*time.Hour) },
		`step "a": its Retry: Base is -1ns`:           func(w *Workflow[none, int]) { Step(w, "a", nothing).Retry.Base = -1 },
		`workflow w: Retry: there is no Shape "x"`:    func(w *Workflow[none, int]) { Step(w, "a", nothing); w.Retry.Shape = "x" },
		`Lease is 1 s to a day`:                       func(w *Workflow[none, int]) { Step(w, "a", nothing); w.Lease = time.Millisecond },
		`Version, Slots and Concurrency`:              func(w *Workflow[none, int]) { Step(w, "a", nothing); w.Slots = -1 },
	} {
		w := New[none, int]("w")
		declare(w)
		if _, err := w.flow.compiled(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "workflow w") {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	w := New[none, int]("No Name")
	Step(w, "a", nothing)
	if _, err := w.flow.compiled(); err == nil {
		t.Error("a workflow of that name was taken")
	}
}

func undoTwice(s *StepRef[none, int]) {
	s.Compensate(func(context.Context, *Run[none], int) error { return nil })
	s.CompensateTx(func(context.Context, pgx.Tx, *Run[none], int) error { return nil })
}

func TestCompile(t *testing.T) {
	t.Parallel()
	w := New[none, int]("w")
	Step(w, "a", nothing).Compensate(func(context.Context, *Run[none], int) error { return nil }).CompensateOnFailure = true
	TxStep(w, "b", func(context.Context, pgx.Tx, *Run[none]) (int, error) { return 0, nil }).CompensateSQL("public.undo_b")
	Sleep(w, "c", time.Second)
	p := Parallel(w, "p")
	Step(p, "d", nothing)
	Step(Sequence(p, "q"), "e", nothing)
	r := Route(w, "r", func(*Run[none]) (string, error) { return "", nil })
	Step(r("y"), "f", nothing)
	Step(r("x"), "g", nothing)
	Step(r("y"), "h", nothing)
	CompensateItem(Map(w, "m", 7, func(*Run[none]) ([]int, error) { return nil, nil }, func(context.Context, *Run[none], int) (int, error) { return 0, nil }),
		func(context.Context, *Run[none], int, int) error { return nil })
	Child(w, "k", New[int, string]("other"), func(*Run[none]) (int, error) { return 0, nil })
	got, err := w.flow.compiled()
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"name":"a","kind":"step","undo":"go","undo_on_failure":true},{"name":"b","kind":"tx","undo":"sql","function":"public.undo_b"},` +
		`{"name":"c","kind":"sleep"},{"name":"p","kind":"parallel","steps":[{"name":"d","kind":"step"},{"name":"q","kind":"sequence","steps":[{"name":"e","kind":"step"}]}]},` +
		`{"name":"r","kind":"route","cases":{"x":[{"name":"g","kind":"step"}],"y":[{"name":"f","kind":"step"},{"name":"h","kind":"step"}]}},` +
		`{"name":"m","kind":"map","undo":"item","max":7},{"name":"k","kind":"child","workflow":"other"}]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// ran is a run in memory whose steps return what is said here, by their key.
func ran(w *flow, results map[string]string) *call {
	j := newJournal()
	for key, v := range results {
		j.results[key] = []byte(v)
	}
	return &call{run: &facts{input: []byte(`{}`)}, journal: j, at: w.root}
}

func at(c *call, n *node, scope ...int) *Run[none] {
	d := *c
	d.at, d.scope = n, scope
	r, err := runOf[none](&d)
	if err != nil {
		panic(err)
	}
	return r
}

// The result of a step in a loop is that of the turn that one is in, else of the newest.
func TestResults(t *testing.T) {
	t.Parallel()
	w := New[none, int]("w")
	l := Loop(w, "l", 9, func(*Run[none]) (bool, error) { return true, nil })
	a := Step(l, "a", nothing)
	b := Step(l, "b", nothing)
	in := Loop(l, "i", 9, func(*Run[none]) (bool, error) { return true, nil })
	c := Step(in, "c", nothing)
	sent := WaitForSignal[int](w, "s", time.Second)
	null := WaitForSignal[int](w, "s2", time.Second)
	late := WaitForSignal[int](w, "s3", time.Second)
	m := Map(w, "m", 2, func(*Run[none]) ([]int, error) { return nil, nil }, func(context.Context, *Run[none], int) (int, error) { return 0, nil })
	end := Step(w, "z", nothing)
	run := ran(w.flow, map[string]string{
		"a#1": "1", "b#1": "10", "c#1#1": "11", "i#1#1": "false", "c#1#2": "12", "i#1#2": "true", "l#1": "false", "a#2": "2", "b#2": "20", "c#2#1": "21",
		"s": `{"payload": 5}`, "s2": `{"payload": null}`, "s3": "null", "m": "null", "m#0": "7", "m#1": "8", "m#2": "9",
	})
	for i, got := range []struct{ is, want int }{
		{a.Result(at(run, end.n)), 2},
		{a.Result(at(run, b.n, 1)), 1},
		{b.Result(at(run, a.n, 3)), 20}, // of the turn before
		{c.Result(at(run, a.n, 1)), 12},
		{c.Result(at(run, a.n, 2)), 21},
		{c.Result(at(run, c.n, 1, 2)), 12},
		{c.Result(at(run, c.n, 1, 1)), 11},
		{a.Result(at(run, in.n, 1, 2)), 1},
		{c.Result(at(run, in.n, 1, 1)), 11},
		{b.Result(at(run, l.n, 1)), 10},
		{*sent.Result(at(run, end.n)), 5},
		{*null.Result(at(run, end.n)), 0},
		{len(m.Result(at(run, end.n))), 3},
		{m.Result(at(run, end.n))[2], 9},
		{at(run, c.n, 4, 6).Turn, 6},
		{at(run, l.n, 4).Turn, 4},
		{at(run, in.n, 4, 6).Turn, 6},
		{at(run, end.n).Turn, 0},
	} {
		if got.is != got.want {
			t.Errorf("%d: got %d, want %d", i, got.is, got.want)
		}
	}
	if late.Result(at(run, end.n)) != nil || !late.Done(at(run, end.n)) || end.Done(at(run, end.n)) {
		t.Error("a signal that did not come, or a step that was not taken")
	}
	func() {
		defer func() {
			if said := fmt.Sprint(recover()); !strings.Contains(said, `step "a#1" reads the result of "z", which has not completed`) {
				t.Error(said)
			}
		}()
		end.Result(at(run, a.n, 1))
	}()
	func() {
		defer func() {
			if said := fmt.Sprint(recover()); !strings.Contains(said, `is of workflow "other"`) {
				t.Error(said)
			}
		}()
		Step(New[none, int]("other"), "x", nothing).Result(at(run, a.n, 1))
	}()
}

func TestOrder(t *testing.T) {
	t.Parallel()
	w := New[none, int]("w")
	Step(w, "first", nothing)
	l := Loop(w, "l", 9, func(*Run[none]) (bool, error) { return true, nil })
	Step(l, "a", nothing)
	p := Parallel(l, "p")
	Step(p, "x", nothing)
	Step(Sequence(p, "q"), "y", nothing)
	m := Map(l, "m", 2, func(*Run[none]) ([]int, error) { return nil, nil }, func(context.Context, *Run[none], int) (int, error) { return 0, nil })
	r := Route(w, "r", func(*Run[none]) (string, error) { return "", nil })
	Step(r("b"), "rb", nothing)
	Step(r("a"), "ra", nothing)
	for key, want := range map[string]string{
		"first": "{0}", "l#2": "{1,2}", "a#3": "{1,3,0}", "x#3": "{1,3,1,0}", "y#3": "{1,3,1,1,0}", "m#3": "{1,3,2}", "m#3#8": "{1,3,2,8}", "r": "{2}", "rb": "{2,1,0}", "ra": "{2,0,0}",
	} {
		name, scope, err := split(key)
		n := w.flow.byName[name]
		if got := ordText(ordOf(n, scope)); err != nil || got != want || keyOf(n, scope) != key {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
	for path, want := range map[string]string{"p#2/x": "x [2]", "p#2/q": "q [2]", "m#2/5": "m [2 5]", "p#2/q/m#2/5": "m [2 5]"} {
		n, scope, err := w.flow.branch(path)
		if err != nil || fmt.Sprint(n.name, " ", scope) != want {
			t.Errorf("%s: %v %v %v", path, n, scope, err)
		}
	}
	for _, path := range []string{"x", "first/a", "p/none", "m/x", "q/y"} {
		if _, _, err := w.flow.branch(path); err == nil {
			t.Errorf("%s leads somewhere", path)
		}
	}
	if got := w.flow.byName["y"].top(); got != 1 {
		t.Errorf("y is in node %d", got)
	}
	if !slices.Equal(m.n.loops(), []*node{l.n}) {
		t.Error("the loop around the Map")
	}
}

func TestContinueAsNew(t *testing.T) {
	t.Parallel()
	w := New[none, int]("w")
	a := Step(w, "a", nothing)
	r := at(ran(w.flow, nil), a.n)
	if anew := continues(fmt.Errorf("wrapped: %w", ContinueAsNew(r, none{}))); anew == nil || anew.input != "{}" {
		t.Errorf("got %+v", anew)
	}
	if continues(nexus.Reject("no")) != nil || continues(nil) != nil {
		t.Error("another error continues")
	}
	bad := ContinueAsNew(&Run[func()]{Step: "a"}, func() {})
	if continues(bad) != nil || !strings.Contains(bad.Error(), "step a") {
		t.Error(bad)
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	w := New[none, int]("w")
	l := Loop(w, "l", 9, func(*Run[none]) (bool, error) { return true, nil })
	a := Step(l, "a", nothing)
	c := ran(w.flow, nil)
	if key := at(c, a.n, 3).IdempotencyKey(); key != c.run.id.String()+"/a#3" {
		t.Error(key)
	}
	c.undo = true
	if key := at(c, a.n, 3).IdempotencyKey(); key != c.run.id.String()+"/a#3~undo" {
		t.Error(key)
	}
}

// A pointer or an interface is an input as any other.
func TestInputsOfAnyType(t *testing.T) {
	t.Parallel()
	c := &call{run: &facts{input: []byte("null")}, journal: newJournal()}
	c.at = New[any, int]("w").flow.root
	if r, err := runOf[any](c); err != nil || r.Input != nil {
		t.Error(r, err)
	}
	c.at = New[map[string]any, int]("w").flow.root
	c.run.input = []byte(`{"n": 12345678901234567890}`)
	if r, err := runOf[map[string]any](c); err != nil || r.Input["n"] != json.Number("12345678901234567890") {
		t.Error(r, err)
	}
	if _, err := runOf[map[string]any](&call{run: &facts{input: []byte("7")}, at: c.at}); err == nil {
		t.Error("a number is taken for a map")
	}
}

// holds: W12 (far too much)
// What is too long for Postgres to read it is refused before it is sent.
// holds: others-large (results of steps)
func TestFarTooMuch(t *testing.T) {
	if _, err := encode("commit_steps", "result", strings.Repeat("x", mostBytes)); !refused(err) || !strings.Contains(err.Error(), "134217730 bytes") {
		t.Error(err)
	}
	if _, err := encode("commit_steps", "result", strings.Repeat("x", 1<<20)); err != nil {
		t.Error(err)
	}
}
