package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/workflow"
)

// plan is the input of a random run. All that happens in it follows from the seed, but for what fails for good and in which attempt a process dies.
type plan struct {
	Seed  uint32
	Bad   []string // keys of steps that fail for good
	Stuck string   // the key of a compensation that fails for good
	Dies  bool     // some steps kill their process
	Left  int      // how often a run may still go on as a new one
}

type planned = workflow.Run[plan]

// part is a node of a random workflow.
type part struct {
	kind      string // step, tx, anew, sleep, until, signal, vain, sequence, parallel, map, route, case, loop, child
	name      string
	parts     []*part
	most      int
	undo      string // go, tx, item, sql
	onFailure bool
	in        *part
	reads     *part // whose result is a part of its own
	child     *random
}

// random is a random workflow.
type random struct {
	name   string
	root   *part
	values []*part // those that have results, in the order of their declaration
	names  int
}

// mix makes a number of whatever is given.
func mix(of ...any) uint32 {
	h := fnv.New32a()
	_, _ = fmt.Fprintln(h, of...)
	return h.Sum32()
}

// failures is how often a step fails before it goes well.
func failures(p plan, key string) int { return max(int(mix(p.Seed, key, "fails")%8)-5, 0) }

// turns is how many a loop takes, whose key this is.
func (p *part) turns(in plan, key string) int { return 1 + int(mix(in.Seed, key, "turns"))%p.most }

func (p *part) chosen(in plan, key string) *part {
	return p.parts[int(mix(in.Seed, key, "case"))%len(p.parts)]
}

func itemsOf(in plan, key string) []uint32 {
	all := make([]uint32, mix(in.Seed, key, "items")%5)
	for i := range all {
		all[i] = mix(in.Seed, key, i)
	}
	return all
}

// kid is the input of a child.
func (p *part) kid(in plan, key string) plan {
	kid := plan{Seed: mix(in.Seed, key), Dies: in.Dies, Left: int(mix(in.Seed, key, "left") % 2)}
	if slices.Contains(in.Bad, key) {
		kid.Bad = play(p.child, kid).fallible[:1]
	}
	return kid
}

// anew is the input of the run that a run goes on as, which may fail where that one would not.
func (f *random) anew(in plan, key string) plan {
	next := plan{Seed: mix(in.Seed, key, "anew"), Dies: in.Dies, Left: in.Left - 1}
	if all := play(f, next).fallible; mix(next.Seed, "bad")%4 == 0 {
		next.Bad = []string{all[int(mix(next.Seed, "which"))%len(all)]}
	}
	return next
}

// drawn are the workflows that follow from a seed; the first is the child of the others.
func drawn(seed uint64) []*random {
	r := rand.New(rand.NewPCG(seed, 1))
	kid := draw(r, "kid", nil)
	all := []*random{kid}
	for i := range 5 {
		all = append(all, draw(r, fmt.Sprintf("flow%d", i), kid))
	}
	return all
}

func draw(r *rand.Rand, name string, kid *random) *random {
	f := &random{name: name, root: &part{kind: "sequence"}}
	f.fill(r, f.root, 0, kid)
	if f.values == nil {
		f.add(r, f.root, "step")
	}
	for _, p := range f.values {
		if other := f.values[r.IntN(len(f.values))]; other != p && !apart(other, p) {
			p.reads = other
		}
	}
	return f
}

func (f *random) fill(r *rand.Rand, in *part, depth int, kid *random) {
	kinds := []string{"step", "step", "tx", "tx", "step", "tx", "sleep", "until", "vain", "map"}
	if kid != nil {
		kinds = append(kinds, "signal", "child")
	}
	if !in.within("parallel") {
		kinds = append(kinds, "anew")
	}
	if depth < 3 {
		kinds = append(kinds, "parallel", "parallel", "loop", "route", "sequence")
	}
	least, most := 1, 3
	if depth == 0 {
		least, most = 3, 6
	}
	for range least + r.IntN(most-least+1) {
		p := f.add(r, in, kinds[r.IntN(len(kinds))])
		switch p.kind {
		case "child":
			p.child = kid
		case "parallel", "loop", "sequence":
			f.fill(r, p, depth+1, kid)
		case "route":
			for range 1 + r.IntN(3) {
				f.fill(r, f.add(r, p, "case"), depth+1, kid)
			}
		}
	}
}

func (f *random) add(r *rand.Rand, in *part, kind string) *part {
	f.names++
	p := &part{kind: kind, name: fmt.Sprintf("%c%d", kind[0], f.names), in: in, most: 1 + r.IntN(3)}
	in.parts = append(in.parts, p)
	switch kind {
	case "step", "tx", "child":
		p.undo = []string{"", "go", "tx", "sql"}[r.IntN(4)]
		p.onFailure = kind != "child" && p.undo != "" && r.IntN(4) == 0
	case "map":
		p.undo = []string{"", "item"}[r.IntN(2)]
	}
	switch kind {
	case "step", "tx", "anew", "child", "map", "signal", "vain":
		f.values = append(f.values, p)
	}
	return p
}

// within reports whether p is of that kind, or in one that is.
func (p *part) within(kind string) bool {
	for ; p != nil; p = p.in {
		if p.kind == kind {
			return true
		}
	}
	return false
}

// apart reports whether the two may be under way at once.
func apart(a, b *part) bool {
	var above []*part
	for p := a; p != nil; p = p.in {
		above = append(above, p)
	}
	for p := b; p != nil; p = p.in {
		if slices.Contains(above, p) {
			return p.kind == "parallel" || p == a || p == b
		}
	}
	return true
}

// String draws the workflow, for whoever has to look at it.
func (f *random) String() string { return f.name + f.root.text() }

func (p *part) text() string {
	s := p.name
	if p.undo != "" {
		s += "~" + p.undo
	}
	if p.onFailure {
		s += "!"
	}
	if len(p.parts) > 0 {
		var all []string
		for _, q := range p.parts {
			all = append(all, q.text())
		}
		s += "(" + strings.Join(all, " ") + ")"
	}
	return s
}

// made is a random workflow as the builder has it.
type made struct {
	*workflow.Workflow[plan, uint32]
	*random
	db   execer
	refs map[*part]func(r *planned) (v uint32, done bool)
}

func build(f *random, db execer, kid *made) *made {
	m := &made{workflow.New[plan, uint32](f.name), f, db, map[*part]func(*planned) (uint32, bool){}}
	m.Retry = quick
	m.Slots = 8
	m.all(m.Workflow, f.root.parts, kid)
	m.Returns(func(r *planned) (uint32, error) {
		out := uint32(0)
		for _, p := range f.values {
			v, _ := m.refs[p](r)
			out = mix(out, v)
		}
		return out, trouble(r)
	})
	return m
}

// read is the result that a part has as a part of its own.
func (m *made) read(p *part, r *planned) (v uint32) {
	if p.reads != nil {
		v, _ = m.refs[p.reads](r)
	}
	return v
}

// trouble is what was planned to go wrong.
func trouble(r *planned) error {
	how := mix(r.Input.Seed, r.Step, "how")
	switch {
	case slices.Contains(r.Input.Bad, r.Step) && how%2 == 0:
		return nexus.Reject("planned")
	case slices.Contains(r.Input.Bad, r.Step):
		return errors.New("planned")
	case r.Attempt <= failures(r.Input, r.Step) && how%2 == 0:
		panic("planned")
	case r.Attempt <= failures(r.Input, r.Step):
		return errors.New("at first")
	}
	return nil
}

func dies(r *planned, when string) {
	if r.Input.Dies && r.Deaths == 0 && mix(r.Input.Seed, r.Step, "dies", when)%40 == 0 {
		die()
	}
}

// effect writes down what was done. Where the connection was cut that is no failure of the step.
func (m *made) effect(ctx context.Context, q execer, r *planned, v uint32) error {
	dies(r, "before")
	_, err := q.Exec(ctx, `insert into flows.did (run, key, attempt, val) values ($1, $2, $3, $4)`, r.ID, r.Step, r.Attempt, int64(v))
	dies(r, "after")
	if err != nil && q == m.db {
		return nexus.Release(time.Millisecond)
	}
	return err
}

func (m *made) all(at workflow.Steps[plan], parts []*part, kid *made) {
	for _, p := range parts {
		m.one(at, p, kid)
	}
}

func (m *made) one(at workflow.Steps[plan], p *part, kid *made) {
	switch p.kind {
	case "step":
		refer(m, p, workflow.Step(at, p.name, func(ctx context.Context, r *planned) (uint32, error) {
			v := mix(r.Input.Seed, r.Step, m.read(p, r))
			if err := m.effect(ctx, m.db, r, v); err != nil {
				return 0, err
			}
			return v, trouble(r)
		}))
	case "tx":
		refer(m, p, workflow.TxStep(at, p.name, func(ctx context.Context, tx pgx.Tx, r *planned) (uint32, error) {
			v := mix(r.Input.Seed, r.Step, m.read(p, r))
			if err := m.effect(ctx, tx, r, v); err != nil {
				return 0, err
			}
			return v, trouble(r)
		}))
	case "anew":
		refer(m, p, workflow.Step(at, p.name, func(ctx context.Context, r *planned) (uint32, error) {
			v := mix(r.Input.Seed, r.Step, m.read(p, r))
			if err := m.effect(ctx, m.db, r, v); err != nil {
				return 0, err
			}
			if err := trouble(r); err != nil || r.Input.Left == 0 {
				return v, err
			}
			return 0, workflow.ContinueAsNew(r, m.anew(r.Input, r.Step))
		}))
	case "sleep":
		workflow.Sleep(at, p.name, 3*time.Millisecond)
	case "until":
		workflow.SleepUntil(at, p.name, func(r *planned) time.Time { return r.StartedAt.Add(20 * time.Millisecond) })
	case "signal", "vain":
		timeout := time.Duration(0)
		if p.kind == "vain" {
			timeout = 5 * time.Millisecond
		}
		s := workflow.WaitForSignal[int](at, p.name, timeout)
		m.refs[p] = func(r *planned) (uint32, bool) {
			if !s.Done(r) || s.Result(r) == nil {
				return 0, s.Done(r)
			}
			return 1, true
		}
	case "sequence":
		m.all(workflow.Sequence(at, p.name), p.parts, kid)
	case "parallel":
		m.all(workflow.Parallel(at, p.name), p.parts, kid)
	case "route":
		of := workflow.Route(at, p.name, func(r *planned) (string, error) {
			if slices.Contains(r.Input.Bad, r.Step) {
				return "nowhere", nil
			}
			return p.chosen(r.Input, r.Step).name, trouble(r)
		})
		for _, c := range p.parts {
			m.all(of(c.name), c.parts, kid)
		}
	case "loop":
		m.all(workflow.Loop(at, p.name, p.most, func(r *planned) (bool, error) {
			key := r.Step[:strings.LastIndex(r.Step, "#")]
			return r.Turn >= p.turns(r.Input, key) && !slices.Contains(r.Input.Bad, key), trouble(r)
		}), p.parts, kid)
	case "map":
		s := workflow.Map(at, p.name, p.most, func(r *planned) ([]uint32, error) { return itemsOf(r.Input, r.Step), trouble(r) },
			func(ctx context.Context, r *planned, item uint32) (uint32, error) {
				v := mix(r.Input.Seed, r.Step, item, m.read(p, r))
				if err := m.effect(ctx, m.db, r, v); err != nil {
					return 0, err
				}
				return v, trouble(r)
			})
		if p.undo != "" {
			workflow.CompensateItem(s, func(ctx context.Context, r *planned, _ int, v uint32) error { return m.undone(ctx, m.db, r, v) })
		}
		m.refs[p] = func(r *planned) (v uint32, done bool) {
			if !s.Done(r) {
				return 0, false
			}
			return fold(s.Result(r)), true
		}
	case "child":
		refer(m, p, workflow.Child(at, p.name, kid.Workflow, func(r *planned) (plan, error) {
			if slices.Contains(r.Input.Bad, r.Step) { // it is the child that fails
				return p.kid(r.Input, r.Step), nil
			}
			return p.kid(r.Input, r.Step), trouble(r)
		}))
	}
}

func fold(all []uint32) (v uint32) {
	for _, one := range all {
		v = mix(v, one)
	}
	return v
}

// refer has a step be read by others, and undone.
func refer(m *made, p *part, s *workflow.StepRef[plan, uint32]) {
	s.CompensateOnFailure = p.onFailure
	m.refs[p] = func(r *planned) (uint32, bool) {
		if !s.Done(r) {
			return 0, false
		}
		return s.Result(r), true
	}
	switch p.undo {
	case "go":
		s.Compensate(func(ctx context.Context, r *planned, v uint32) error { return m.undone(ctx, m.db, r, v) })
	case "tx":
		s.CompensateTx(func(ctx context.Context, tx pgx.Tx, r *planned, v uint32) error { return m.undone(ctx, tx, r, v) })
	case "sql":
		s.CompensateSQL("flows.undo(jsonb)")
	}
}

func (m *made) undone(ctx context.Context, q execer, r *planned, v uint32) error {
	if err := m.effect(ctx, q, r, v); err != nil {
		return err
	}
	if r.Input.Stuck == r.Step {
		return nexus.Reject("planned")
	}
	return trouble(r)
}
