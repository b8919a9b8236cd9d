package workflow_test

import (
	"fmt"
	"slices"
	"strconv"
)

// outcome is what a plain program does that is given a random workflow and a plan, and knows nothing of a database.
type outcome struct {
	f    *random
	plan plan

	ok       bool
	out      uint32
	did      []step         // in the order of such a program
	fallible []string       // keys that could fail for good
	failed   []string       // those that may be the one that does
	waits    map[string]int // signals by name, with those that the runs take that it goes on as
	next     *outcome       // what the run goes on as

	latest map[*part]uint32
}

// step is one that completes.
type step struct {
	part    *part
	key     string
	val     uint32
	branch  []string // container:branch, from the outside in
	certain bool     // false: a branch beside it fails, which may be before this
}

// play runs the workflow.
func play(f *random, p plan) *outcome {
	o := &outcome{f: f, plan: p, waits: map[string]int{}, latest: map[*part]uint32{}}
	if !o.all(f.root.parts, nil, nil) {
		if o.next != nil {
			o.ok, o.out = o.next.ok, o.next.out
			for name, n := range o.next.waits {
				o.waits[name] += n
			}
		}
		return o
	}
	if !o.may("returns") {
		return o
	}
	for _, v := range f.values {
		o.out = mix(o.out, o.latest[v])
	}
	o.ok = true
	return o
}

func keyOf(p *part, scope []int) string {
	key := p.name
	for _, n := range scope {
		key += "#" + strconv.Itoa(n)
	}
	return key
}

// may reports whether that does not fail for good.
func (o *outcome) may(key string) bool {
	o.fallible = append(o.fallible, key)
	if slices.Contains(o.plan.Bad, key) {
		o.failed = append(o.failed, key)
		return false
	}
	return true
}

func (o *outcome) all(parts []*part, scope []int, branch []string) bool {
	for _, p := range parts {
		if !o.one(p, scope, branch) {
			return false
		}
	}
	return true
}

func (o *outcome) done(p *part, key string, v uint32, branch []string) {
	o.did = append(o.did, step{p, key, v, slices.Clone(branch), true})
}

func (o *outcome) one(p *part, scope []int, branch []string) bool {
	key := keyOf(p, scope)
	switch p.kind {
	case "step", "tx", "anew":
		if !o.may(key) {
			return false
		}
		if p.kind == "anew" && o.plan.Left > 0 {
			o.next = play(o.f, o.f.anew(o.plan, key))
			return false
		}
		o.latest[p] = mix(o.plan.Seed, key, o.latest[p.reads])
		o.done(p, key, o.latest[p], branch)
	case "child":
		if !o.may(key) {
			return false
		}
		end := play(p.child, p.kid(o.plan, key))
		if !end.ok {
			o.failed = append(o.failed, key)
			return false
		}
		o.latest[p] = end.out
		o.done(p, key, o.latest[p], branch)
	case "signal":
		o.waits[p.name]++
		o.latest[p] = 1
	case "sequence":
		return o.all(p.parts, scope, branch)
	case "parallel":
		return o.branches(len(p.parts), func(i int) bool {
			return o.one(p.parts[i], scope, append(slices.Clone(branch), key+":"+p.parts[i].name))
		})
	case "route":
		return o.may(key) && o.all(p.chosen(o.plan, key).parts, scope, branch)
	case "loop":
		turns := p.turns(o.plan, key)
		if slices.Contains(o.plan.Bad, key) {
			turns = p.most
		}
		for t := range turns {
			if !o.all(p.parts, append(slices.Clone(scope), t+1), branch) {
				return false
			}
		}
		return o.may(key)
	case "map":
		items := itemsOf(o.plan, key)
		read := o.latest[p.reads]
		vals := make([]uint32, len(items))
		ok := o.branches(len(items), func(i int) bool {
			k := keyOf(p, append(slices.Clone(scope), i))
			if !o.may(k) {
				return false
			}
			vals[i] = mix(o.plan.Seed, k, items[i], read)
			o.done(p, k, vals[i], append(slices.Clone(branch), fmt.Sprint(key, ":", i)))
			return true
		})
		if ok {
			o.latest[p] = fold(vals)
		}
		return ok
	}
	return true
}

// branches does all of them. Where one fails nobody knows how far the others come.
func (o *outcome) branches(n int, branch func(i int) bool) bool {
	first, failures, from, to := len(o.did), 0, 0, 0
	for i := range n {
		if at := len(o.did); !branch(i) {
			failures++
			from, to = at, len(o.did)
		}
	}
	if failures == 0 {
		return true
	}
	for i := first; i < len(o.did); i++ {
		if failures > 1 || i < from || i >= to {
			o.did[i].certain = false
		}
	}
	return false
}

// beside reports whether the two may complete in any order.
func (s step) beside(t step) bool {
	for i := range min(len(s.branch), len(t.branch)) {
		if s.branch[i] != t.branch[i] {
			return true // of one container, since what comes before is the same
		}
	}
	return false
}
