package workflow

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
)

// kind of a node, spelt as core_node.register_workflow takes it.
type kind string

const (
	stepKind     kind = "step"
	txKind       kind = "tx"
	sleepKind    kind = "sleep"
	untilKind    kind = "sleep_until"
	signalKind   kind = "signal"
	parallelKind kind = "parallel"
	sequenceKind kind = "sequence"
	mapKind      kind = "map"
	routeKind    kind = "route"
	loopKind     kind = "loop"
	childKind    kind = "child"

	rootKind kind = "workflow" // these two are no steps of their own
	caseKind kind = "case"
)

// returnsName is what the function of the run's result goes by where it fails.
const returnsName = "returns"

// node is a declared step or block. What of it is typed is behind its functions.
type node struct {
	kind  kind
	name  string // of a case: its key
	in    *node  // nil: the root
	index int    // among its siblings; of a case: by its key
	steps []*node
	flow  *flow

	step  func(ctx context.Context, tx pgx.Tx, c *call) (any, error) // of a Map: for one item
	items func(c *call) ([]any, error)
	until func(c *call) time.Time
	route func(c *call) (string, error)
	done  func(c *call) (bool, error)
	input func(c *call) (any, error) // of a child
	child string
	d     time.Duration // of a sleep; after which nobody waits for a signal any more
	most  int           // turns, or items at once

	undo    *undo
	options func() options // nil: none
}

// options of a step.
type options struct {
	retry     nexus.RetryPolicy
	timeout   time.Duration
	onFailure bool
}

// undo is how a step is compensated.
type undo struct {
	kind     string // go, tx, sql, item
	function string
	do       func(ctx context.Context, tx pgx.Tx, c *call, result []byte) error
}

// flow is a workflow without its types.
type flow struct {
	name    string
	root    *node
	byName  map[string]*node
	faults  []error
	decode  func(input []byte) (any, error)
	flat    bool                       // what that returns may be given to many
	returns func(c *call) (any, error) // nil: the zero value
	zero    func() (string, error)     // as JSON
	closed  atomic.Bool                // a node has it, and what it runs reads this from many goroutines
	set     func() settings
}

var stepName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

func (f *flow) fault(format string, args ...any) {
	f.faults = append(f.faults, fmt.Errorf("workflow %s: "+format, append([]any{f.name}, args...)...))
}

// mustBeOpen panics once a node has the workflow: what is declared later it would run in this process, and in no other.
func (f *flow) mustBeOpen(what string) {
	if f.closed.Load() {
		panic(fmt.Sprintf("workflow %s: %s is declared after a node was given the workflow: declare all of it before", f.name, what))
	}
}

// add declares one inside of n.
func (n *node) add(one *node) *node {
	f := n.flow
	f.mustBeOpen(fmt.Sprintf("%s %q", one.kind, one.name))
	one.in, one.index, one.flow = n, len(n.steps), f
	n.steps = append(n.steps, one)
	switch before, taken := f.byName[one.name]; {
	case !stepName.MatchString(one.name):
		f.fault("step %q: a name is 1 to 63 of a-z, 0-9, _ and -, and begins with a letter", one.name)
	case one.name == returnsName:
		f.fault("step %q: this name is that of the function that makes the result", one.name)
	case taken:
		f.fault("two steps have the name %q, a %s and a %s", one.name, before.kind, one.kind)
	}
	f.byName[one.name] = one
	return one
}

// needs notes where what n cannot do without was not given.
func (n *node) needs(given bool, what string) *node {
	if !given {
		n.flow.fault("%s %q has no %s", n.kind, n.name, what)
	}
	return n
}

// of is the case of a route with that key, made where it is new.
func (n *node) of(key string) *node {
	for _, c := range n.steps {
		if c.name == key {
			return c
		}
	}
	n.flow.mustBeOpen(fmt.Sprintf("case %q of route %q", key, n.name))
	c := &node{kind: caseKind, name: key, in: n, flow: n.flow}
	if key == "" {
		n.flow.fault("route %q: a key is not empty", n.name)
	}
	n.steps = append(n.steps, c)
	slices.SortFunc(n.steps, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	for i, c := range n.steps {
		c.index = i
	}
	return c
}

// compensate sets how n is undone.
func (n *node) compensate(u *undo) {
	n.flow.mustBeOpen(fmt.Sprintf("how to undo step %q", n.name))
	switch {
	case n.undo != nil:
		n.flow.fault("step %q has two compensations, and may have one", n.name)
	case n.kind == signalKind:
		n.flow.fault("step %q: a signal has nothing to compensate", n.name)
	case n.kind == mapKind && u.kind != "item":
		n.flow.fault("step %q: the items of a Map are compensated one by one, by CompensateItem", n.name)
	}
	n.undo = u
}

// check says what is wrong with the declaration.
func (f *flow) check() error {
	faults := slices.Clone(f.faults)
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("workflow %s: "+format, append([]any{f.name}, args...)...))
	}
	if !stepName.MatchString(f.name) {
		fault("a name is 1 to 63 of a-z, 0-9, _ and -, and begins with a letter")
	}
	if len(f.root.steps) == 0 {
		fault("it has no steps")
	}
	var visit func(n *node)
	visit = func(n *node) {
		switch n.kind {
		case parallelKind, sequenceKind, loopKind, routeKind:
			if len(n.steps) == 0 {
				fault("%s %q is empty", n.kind, n.name)
			}
		case caseKind:
			if len(n.steps) == 0 {
				fault("route %q: case %q is empty", n.in.name, n.name)
			}
		case sleepKind, signalKind:
			if n.d < 0 {
				fault("step %q: %s is negative", n.name, n.d)
			} else if n.d > longestWait {
				fault("step %q: %s is more than 30 years", n.name, n.d)
			}
		}
		if (n.kind == loopKind || n.kind == mapKind) && n.most < 1 {
			fault("%s %q: its bound is %d, and at least 1", n.kind, n.name, n.most)
		}
		if (n.kind == mapKind || n.kind == parallelKind) && max(n.most, len(n.steps)) > branchesMost {
			fault("%s %q: %d branches at once, and %d are the most", n.kind, n.name, max(n.most, len(n.steps)), branchesMost)
		}
		if n.kind == caseKind && (strings.ContainsRune(n.name, 0) || !utf8.ValidString(n.name)) {
			fault("route %q: the database cannot keep case %q", n.in.name, n.name)
		}
		if n.options != nil {
			o := n.options()
			if o.onFailure && n.undo == nil {
				fault("step %q has CompensateOnFailure and no compensation", n.name)
			}
			if what := wrongPolicy(o.retry); what != "" {
				fault("step %q: its Retry: %s", n.name, what)
			}
		}
		for _, s := range n.steps {
			visit(s)
		}
	}
	visit(f.root)
	if f.returns == nil && f.zero != nil {
		if _, err := f.zero(); err != nil {
			fault("it has no Returns, and the zero value, which is its result then, cannot be written as JSON: %v", err)
		}
	}
	if what := wrongPolicy(f.set().retry); what != "" {
		fault("Retry: %s", what)
	}
	return errors.Join(faults...)
}

// branchesMost is how many core_node.fan_out opens.
const branchesMost = 1000

// longestWait is 30 years as Postgres compares intervals.
const longestWait = 30 * 360 * 24 * time.Hour

// wrongPolicy says what of a policy the database would refuse, when a step has failed and it is too late; "": nothing.
func wrongPolicy(p nexus.RetryPolicy) string {
	const most = 30 * 24 * time.Hour
	switch {
	case p.MaxAttempts < -1 || p.MaxAttempts > 1_000_000:
		return fmt.Sprintf("MaxAttempts is %d, and may be 1 to 1,000,000, or -1 for never giving up", p.MaxAttempts)
	case !slices.Contains([]nexus.Shape{"", nexus.Exponential, nexus.Linear, nexus.Constant}, p.Shape):
		return fmt.Sprintf("there is no Shape %q", p.Shape)
	case p.Base < 0 || p.Base > most:
		return fmt.Sprintf("Base is %s, and may be up to 30 days", p.Base)
	case p.Max < 0 || p.Max > most:
		return fmt.Sprintf("Max is %s, and may be up to 30 days", p.Max)
	case !(p.Jitter <= 1): // NaN is not
		return fmt.Sprintf("Jitter is %v, and may be up to 1, or negative for none", p.Jitter)
	}
	return ""
}

// declared is a node as core_node.register_workflow takes it.
type declared struct {
	Name      string                `json:"name"`
	Kind      kind                  `json:"kind"`
	Undo      string                `json:"undo,omitempty"`
	Function  string                `json:"function,omitempty"`
	OnFailure bool                  `json:"undo_on_failure,omitempty"`
	Steps     []declared            `json:"steps,omitempty"`
	Cases     map[string][]declared `json:"cases,omitempty"`
	Workflow  string                `json:"workflow,omitempty"`
	Max       int                   `json:"max,omitempty"`
}

// compile is the declaration as SQL has it.
func compile(steps []*node) []declared {
	all := make([]declared, 0, len(steps))
	for _, n := range steps {
		d := declared{Name: n.name, Kind: n.kind, Workflow: n.child, Max: n.most}
		if n.undo != nil {
			d.Undo, d.Function = n.undo.kind, n.undo.function
		}
		if n.options != nil {
			d.OnFailure = n.options().onFailure
		}
		if n.kind == routeKind {
			d.Cases = map[string][]declared{}
			for _, c := range n.steps {
				d.Cases[c.name] = compile(c.steps)
			}
		} else if len(n.steps) > 0 {
			d.Steps = compile(n.steps)
		}
		all = append(all, d)
	}
	return all
}

// loops are those around n, from the outside in.
func (n *node) loops() (all []*node) {
	for up := n.in; up != nil; up = up.in {
		if up.kind == loopKind {
			all = append(all, up)
		}
	}
	slices.Reverse(all)
	return all
}

// top is the index of the node of the root that n is, or is in.
func (n *node) top() int {
	for n.in != nil && n.in.kind != rootKind {
		n = n.in
	}
	return n.index
}

// keyOf is the key of n in the journal: its name, and the turn of each loop and the item of the Map that it runs for.
func keyOf(n *node, scope []int) string {
	key := []byte(n.name)
	for _, t := range scope {
		key = append(key, '#')
		key = strconv.AppendInt(key, int64(t), 10)
	}
	return string(key)
}

// split is the reverse of keyOf.
func split(key string) (name string, scope []int, err error) {
	parts := strings.Split(key, "#")
	for _, p := range parts[1:] {
		t, err := strconv.Atoi(p)
		if err != nil {
			return "", nil, fmt.Errorf("workflow: key %q: %w", key, err)
		}
		scope = append(scope, t)
	}
	return parts[0], scope, nil
}

// ordOf is where n is in the order of execution: an index at each level, and the turn or item where there are several.
func ordOf(n *node, scope []int) []int {
	var chain []*node
	for up := n; up.in != nil; up = up.in {
		chain = append(chain, up)
	}
	var ord []int
	for i := len(chain) - 1; i >= 0; i-- {
		ord = append(ord, chain[i].index)
		if i > 0 && chain[i].kind == loopKind && len(scope) > 0 {
			ord, scope = append(ord, scope[0]), scope[1:]
		}
	}
	return append(ord, scope...) // an item, or the turn that a loop decides about
}
