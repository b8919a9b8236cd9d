package workflow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// journal is what is known of a run: the results of what is done, and notes about what is under way or was given up.
type journal struct {
	mu sync.Mutex // of results, turns and past: code that a step left behind reads them while the run goes on

	results map[string][]byte
	pending map[string][]byte
	failed  map[string][]byte

	kept int // bytes of the results

	turns map[string]int // of loops: turns that are known to be over
	past  map[block]int  // of steps in a row: how many of the first are known to be over
}

// block is what holds steps that run one after the other, in one turn of the loops around it.
type block struct {
	of    *node
	scope string
}

func newJournal() *journal {
	return &journal{results: map[string][]byte{}, pending: map[string][]byte{}, failed: map[string][]byte{}, turns: map[string]int{}, past: map[block]int{}}
}

// put notes a result.
func (j *journal) put(key string, result []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.kept += len(result) - len(j.results[key])
	j.results[key] = result
}

// drop takes a result back that was not journaled after all.
func (j *journal) drop(key string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.kept -= len(j.results[key])
	delete(j.results, key)
	clear(j.turns)
	clear(j.past)
}

// get is for code of users.
func (j *journal) get(key string) (result []byte, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	result, ok = j.results[key]
	return result, ok
}

func (j *journal) has(key string) bool {
	_, ok := j.results[key]
	return ok
}

// over is how many turns of a loop are over, and whether it said after the last of them that it is done.
func (j *journal) over(loop *node, scope []int) (turns int, done bool) {
	key := keyOf(loop, scope)
	turns = j.turns[key]
	for {
		said, ok := j.results[key+"#"+strconv.Itoa(turns+1)]
		if !ok {
			break
		}
		turns++
		if string(said) == "true" {
			return turns, true
		}
		j.turns[key] = turns
	}
	return turns, false
}

// what is next at a place.
type what int

const (
	finish what = iota // nothing: the run or branch is over
	do                 // the node itself
	choose             // the case of a route
	decide             // whether a loop is over
	exceed             // nothing: a loop is out of turns
	stray              // nothing: the journal names a case that is not declared
)

// place is the next thing of a cursor.
type place struct {
	what  what
	node  *node
	scope []int // turns and items; of decide: with the turn that is over
}

func (p place) key() string { return keyOf(p.node, p.scope) }
func (p place) ord() []int  { return ordOf(p.node, p.scope) }

// item reports whether the place is one item of a Map, and not the Map, which may be a branch itself.
func (p place) item() bool { return p.node.kind == mapKind && len(p.scope) > len(p.node.loops()) }

// next is what comes next for the cursor of that path.
func (f *flow) next(path string, j *journal) (place, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if path == "" {
		p, _ := walkAll(f.root, nil, j)
		return p, nil
	}
	n, scope, err := f.branch(path)
	if err != nil {
		return place{}, err
	}
	if n.kind == mapKind { // one item of it
		p := place{what: do, node: n, scope: scope}
		if j.has(p.key()) {
			p = place{}
		}
		return p, nil
	}
	if p, ok := walk(n, scope, j); ok {
		return p, nil
	}
	return place{}, nil // a walk that finds nothing says where it looked last
}

// branch is what a path leads to: a branch of a Parallel, or a Map with the number of the item in scope.
func (f *flow) branch(path string) (n *node, scope []int, err error) {
	parts := strings.Split(path, "/")
	if len(parts)%2 != 0 {
		return nil, nil, fmt.Errorf("workflow %s: no such path: %q", f.name, path)
	}
	for i := 0; i < len(parts); i += 2 {
		name, turns, err := split(parts[i])
		if err != nil {
			return nil, nil, err
		}
		at := f.byName[name]
		switch {
		case at == nil:
		case at.kind == mapKind:
			item, err := strconv.Atoi(parts[i+1])
			if err != nil {
				return nil, nil, fmt.Errorf("workflow %s: path %q: %w", f.name, path, err)
			}
			n, scope = at, append(slices.Clone(turns), item)
			continue
		case at.kind == parallelKind:
			k := slices.IndexFunc(at.steps, func(s *node) bool { return s.name == parts[i+1] })
			if k >= 0 {
				n, scope = at.steps[k], turns
				continue
			}
		}
		return nil, nil, fmt.Errorf("workflow %s: no such path: %q", f.name, path)
	}
	return n, scope, nil
}

// walkAll is what comes next of the steps of a block, which run one after the other; ok is false if all are done. What is done stays so, and a walk
// begins where the one before has ended: else a run of many steps would look at each of them for each.
func walkAll(of *node, scope []int, j *journal) (_ place, ok bool) {
	at := block{of: of}
	if len(scope) > 0 {
		at.scope = keyOf(of, scope)
	}
	for i := j.past[at]; i < len(of.steps); i++ {
		if p, ok := walk(of.steps[i], scope, j); ok {
			return p, true
		}
		j.past[at] = i + 1
	}
	return place{}, false
}

// walk is what comes next of one node.
func walk(n *node, scope []int, j *journal) (_ place, ok bool) {
	switch n.kind {
	case sequenceKind:
		return walkAll(n, scope, j)
	case routeKind:
		p := place{what: choose, node: n, scope: scope}
		chosen, ok := j.results[p.key()]
		if !ok {
			return p, true
		}
		for _, c := range n.steps {
			if c.name == text(chosen) {
				return walkAll(c, scope, j)
			}
		}
		p.what = stray
		return p, true
	case loopKind:
		turns, done := j.over(n, scope)
		if done {
			return place{}, false
		}
		if turns >= n.most {
			return place{what: exceed, node: n, scope: scope}, true
		}
		scope = append(slices.Clip(scope), turns+1)
		if p, ok := walkAll(n, scope, j); ok {
			return p, true
		}
		return place{what: decide, node: n, scope: scope}, true
	default:
		p := place{what: do, node: n, scope: scope}
		return p, !j.has(p.key())
	}
}

// open are the branches of a Parallel that are not done.
func open(n *node, scope []int, j *journal) (names []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, b := range n.steps {
		if _, ok := walk(b, scope, j); ok {
			names = append(names, b.name)
		}
	}
	return names
}

// newest is the newest result of n that there is for whoever is at a place: of the turn that they are in, else of one before.
func (j *journal) newest(n *node, at *node, scope []int) (key string, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	loops := n.loops()
	var mine []int // turns of the loops that both are in
	for i, l := range at.loops() {
		if i < len(loops) && loops[i] == l && i < len(scope) {
			mine = append(mine, scope[i])
			continue
		}
		break
	}
	if at.kind == loopKind && len(mine) < len(loops) && loops[len(mine)] == at && len(scope) == len(mine)+1 {
		mine = append(mine, scope[len(mine)]) // it decides about that turn
	}
	return j.search(n, loops, nil, mine)
}

func (j *journal) search(n *node, loops []*node, scope, mine []int) (key string, ok bool) {
	if len(loops) == 0 {
		key = keyOf(n, scope)
		return key, j.has(key)
	}
	over, _ := j.over(loops[0], scope)
	turn, inside := over+1, len(mine) > 0
	if inside {
		turn = mine[0]
	}
	for t := turn; t >= 1; t-- {
		var rest []int
		if inside && t == turn {
			rest = mine[1:]
		}
		if key, ok = j.search(n, loops[1:], append(slices.Clip(scope), t), rest); ok {
			return key, true
		}
	}
	return "", false
}
