package workflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// model runs a tree of steps as a program would that knows of no journal: it calls, and notes in which order. Which choices are made and how many
// turns loops take follows from the keys alone, so that two executions can be compared.
type model struct{ trace []string }

func chosen(n *node, scope []int) *node { return n.steps[hash(keyOf(n, scope))%len(n.steps)] }
func turnsOf(n *node, scope []int) int  { return 1 + hash(keyOf(n, scope))%n.most }
func itemsOf(n *node, scope []int) int  { return hash(keyOf(n, scope)) % 4 }

func hash(s string) (h int) {
	for _, c := range []byte(s) {
		h = (h*31 + int(c)) & 0xffff
	}
	return h
}

func (m *model) all(steps []*node, scope []int) {
	for _, n := range steps {
		m.one(n, scope)
	}
}

func (m *model) one(n *node, scope []int) {
	switch n.kind {
	case sequenceKind, parallelKind:
		m.all(n.steps, scope)
	case routeKind:
		m.all(chosen(n, scope).steps, scope)
	case loopKind:
		for t := 1; t <= turnsOf(n, scope); t++ {
			m.all(n.steps, append(slices.Clone(scope), t))
		}
	case mapKind:
		for i := range itemsOf(n, scope) {
			m.trace = append(m.trace, keyOf(n, append(slices.Clone(scope), i)))
		}
	default:
		m.trace = append(m.trace, keyOf(n, scope))
	}
}

// engine runs the same by the walker: one cursor for the run and one for each open branch, of which any may be next, and each may be lost and
// claimed anew, which forgets all but the journal.
type engine struct {
	f       *flow
	j       *journal
	trace   []string
	ord     map[string][]int
	pick    func(n int) int
	forgets func() bool
}

func (e *engine) run(path string) error {
	for guard := 0; guard < 10_000; guard++ {
		if e.forgets() {
			e.j.turns, e.j.past = map[string]int{}, map[block]int{}
		}
		p, err := e.f.next(path, e.j)
		if err != nil {
			return err
		}
		key := ""
		if p.node != nil {
			key = p.key()
		}
		switch p.what {
		case finish:
			return nil
		case exceed, stray:
			return fmt.Errorf("%s: %v", key, p.what)
		case choose:
			e.j.results[key] = []byte(`"` + chosen(p.node, p.scope).name + `"`)
			continue
		case decide:
			at := p.scope[:len(p.scope)-1]
			e.j.results[key] = fmt.Append(nil, p.scope[len(at)] >= turnsOf(p.node, at))
			continue
		}
		var branches []string
		switch {
		case p.node.kind == parallelKind:
			branches = open(p.node, p.scope, e.j)
		case p.node.kind == mapKind && !p.item():
			for i := range itemsOf(p.node, p.scope) {
				branches = append(branches, fmt.Sprint(i))
			}
		default:
			e.trace = append(e.trace, key)
			e.ord[key] = p.ord()
			e.j.results[key] = []byte("1")
			continue
		}
		for len(branches) > 0 {
			i := e.pick(len(branches))
			at := key + "/" + branches[i]
			if path != "" {
				at = path + "/" + at
			}
			if err := e.run(at); err != nil {
				return err
			}
			branches = slices.Delete(branches, i, i+1)
		}
		e.j.results[key] = []byte("null")
	}
	return errors.New("it does not end")
}

// tree draws a declaration.
func tree(t *rapid.T) *flow {
	w := New[none, int]("w")
	names := 0
	var fill func(b *Block[none], depth int)
	fill = func(b *Block[none], depth int) {
		for range rapid.IntRange(1, 3).Draw(t, "steps") {
			names++
			name := fmt.Sprintf("n%d", names)
			most := 3
			if depth == 0 {
				most = 8
			} else if depth >= 3 {
				most = 1
			}
			switch rapid.IntRange(0, most).Draw(t, "kind") {
			case 0, 1:
				Step(b, name, nothing)
			case 2:
				Sleep(b, name, time.Second)
			case 3:
				fill(Loop(b, name, rapid.IntRange(1, 3).Draw(t, "turns"), func(*Run[none]) (bool, error) { return true, nil }), depth+1)
			case 4:
				fill(Parallel(b, name), depth+1)
			case 5:
				fill(Sequence(b, name), depth+1)
			case 6:
				Map(b, name, 2, func(*Run[none]) ([]int, error) { return nil, nil }, func(context.Context, *Run[none], int) (int, error) { return 0, nil })
			default:
				of := Route(b, name, func(*Run[none]) (string, error) { return "", nil })
				for i := range rapid.IntRange(1, 3).Draw(t, "cases") {
					fill(of(fmt.Sprintf("c%d", i)), depth+1)
				}
			}
		}
	}
	fill(&w.block, 0)
	return w.flow
}

// holds: W2 (walker), W8 (walker)
// Whatever the tree is, and in whichever order branches go on, each step runs once and under the same key as in a plain program; and the order that
// is journaled is the order of the declaration, as far as that is one.
// holds: others-branches
func TestTheWalkerDoesAsAPlainProgram(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := tree(t)
		if err := f.check(); err != nil {
			t.Fatal(err)
		}
		var m model
		m.all(f.root.steps, nil)
		e := &engine{
			f: f, j: newJournal(), ord: map[string][]int{},
			pick:    func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "branch") },
			forgets: func() bool { return rapid.Bool().Draw(t, "forgets") },
		}
		if err := e.run(""); err != nil {
			t.Fatal(err)
		}
		byOrd := slices.Clone(e.trace)
		slices.SortStableFunc(byOrd, func(a, b string) int { return slices.Compare(e.ord[a], e.ord[b]) })
		if got, want := strings.Join(byOrd, " "), strings.Join(m.trace, " "); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

func TestWhatIsNext(t *testing.T) {
	t.Parallel()
	w := New[none, int]("w")
	Step(w, "a", nothing)
	p := Parallel(w, "p")
	Step(p, "x", nothing)
	q := Sequence(p, "q")
	Step(q, "y", nothing)
	Step(q, "z", nothing)
	r := Route(w, "r", func(*Run[none]) (string, error) { return "", nil })
	Step(r("left"), "b", nothing)
	Step(Loop(w, "l", 2, func(*Run[none]) (bool, error) { return false, nil }), "c", nothing)
	for _, c := range []struct {
		path, journal, want string
	}{
		{"", "", "do a"},
		{"", "a", "do p"},
		{"p/x", "a", "do x"},
		{"p/q", "a", "do y"},
		{"p/q", "a y", "do z"},
		{"p/q", "a y z", "finish"},
		{"", "a x y z", "do p"}, // its end is the last branch's to journal
		{"", "a x y z p", "choose r"},
		{"", "a x y z p r=left", "do b"},
		{"", "a x y z p r=right", "stray r"},
		{"", "a x y z p r=left b", "do c#1"},
		{"", "a x y z p r=left b c#1", "decide l#1"},
		{"", "a x y z p r=left b c#1 l#1=false", "do c#2"},
		{"", "a x y z p r=left b c#1 l#1=false c#2 l#2=false", "exceed l"},
		{"", "a x y z p r=left b c#1 l#1=true", "finish"},
	} {
		j := newJournal()
		for _, row := range strings.Fields(c.journal) {
			key, v, _ := strings.Cut(row, "=")
			if v != "true" && v != "false" {
				v = `"` + v + `"`
			}
			j.results[key] = []byte(v)
		}
		got, err := w.flow.next(c.path, j)
		words := []string{"finish", "do", "choose", "decide", "exceed", "stray"}[got.what]
		if got.node != nil {
			words += " " + got.key()
		}
		if err != nil || words != c.want {
			t.Errorf("%s after %s: %s, want %s", c.path, c.journal, words, c.want)
		}
	}
	j := newJournal()
	j.results["a"], j.results["x"] = []byte("1"), []byte("1")
	if got := open(p.n, nil, j); !slices.Equal(got, []string{"q"}) {
		t.Errorf("open branches: %v", got)
	}
}

// A walk begins where the one before has ended, so that what a run of many steps costs does not grow with the square of their number. What the
// database did not take is looked at again.
func TestAWalkGoesOnFromWhereItWas(t *testing.T) {
	t.Parallel()
	w := New[none, int]("w")
	q := Sequence(w, "q")
	for _, name := range []string{"a", "b", "c"} {
		Step(q, name, nothing)
	}
	Step(w, "d", nothing)
	j := newJournal()
	next := func() string {
		p, err := w.flow.next("", j)
		if err != nil {
			t.Fatal(err)
		}
		return p.key()
	}
	j.results["a"], j.results["b"] = []byte("1"), []byte("1")
	if got := next(); got != "c" {
		t.Fatalf("next is %s", got)
	}
	delete(j.results, "a")
	if got := next(); got != "c" {
		t.Errorf("it went over all steps anew, to %s", got)
	}
	j.results["c"] = []byte("1")
	if got := next(); got != "d" {
		t.Errorf("next is %s", got)
	}
	j.drop("c")
	if got := next(); got != "a" {
		t.Errorf("after a result was taken back: %s", got)
	}
}
