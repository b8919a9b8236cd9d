package workflow_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

// change has the outermost steps be others: one more, one less, another order, another name. What comes before common is as it was.
func (f *random) change(r *rand.Rand) (common int, how string) {
	top := f.root.parts
	at := r.IntN(len(top))
	switch r.IntN(5) {
	case 0:
		f.add(r, f.root, "step")
		return len(top), "extended"
	case 1:
		f.add(r, f.root, "tx")
		last := f.root.parts[len(top)]
		f.root.parts = slices.Insert(f.root.parts[:len(top):len(top)], at, last)
		return at, "inserted"
	case 2:
		at = max(at, 1)
		f.root.parts = top[:at:at]
		there := func(p *part) bool {
			for p.in != f.root {
				p = p.in
			}
			return slices.Contains(f.root.parts, p)
		}
		f.values = slices.DeleteFunc(f.values, func(p *part) bool { return !there(p) })
		for _, p := range f.values {
			if p.reads != nil && !there(p.reads) {
				p.reads = nil
			}
		}
		return at, "cut"
	case 3:
		other := (at + 1) % len(top)
		top[at], top[other] = top[other], top[at]
		return min(at, other), "reordered"
	default:
		top[at].name += "-anew"
		return at, "renamed"
	}
}

// holds: W11 (random), W14 (random)
// Random workflows whose code changes in the middle: runs that have begun no more than what is as it was end as a plain program of the new code does; the
// others stand still, with the reason, until a node has their code again, and Check has named them before. NEXUS_TEST_SEED=7 does one trial again.
func TestRandomlyChangedCode(t *testing.T) {
	t.Parallel()
	trials, runs := 1, 15
	if long() {
		trials, runs = 10, 60
	}
	seeded(t, trials, runs, changed)
}

func changed(t *testing.T, seed uint64, runs int) {
	t.Helper()
	db := newDB(t)
	undoInSQL(t, db)
	c := &trial{t: t, db: db, rnd: rand.New(rand.NewPCG(seed, 3)), flows: builtAll(seed, db.Pool), lives: true, byDef: map[int64]*made{}}
	deploy := func(id string, flows []*made) (stop func()) {
		var services []node.Service
		for _, m := range flows {
			services = append(services, m)
		}
		stop = start(t, db, node.Config{ID: id}, services...)
		db.Wait(`select count(*) = $2 from core_private.node_capabilities where node_id = $1 and kind = 'workflow'`, id, len(flows))
		for _, m := range flows {
			c.byDef[dbtest.Get[int64](db, `select def_id from core.workflow_definitions where workflow = $1 and newest`, m.name)] = m
		}
		return stop
	}
	stop := deploy("old", c.flows)
	for range runs {
		c.begin()
		c.progress(c.rnd.IntN(10))
	}
	stop()

	fresh := drawn(seed)
	next := []*made{build(fresh[0], db.Pool, nil)}
	common, how := map[string]int{}, map[string]string{}
	for _, f := range fresh[1:] {
		common[f.name], how[f.name] = f.change(c.rnd)
		next = append(next, build(f, db.Pool, next[0]))
	}
	const did = `select count(*) from flows.did where run = $1 and key !~ '~undo'`
	type still struct {
		id   uuid.UUID
		def  int64
		did  int64
		flow string
	}
	var parked []still
	for _, r := range rowsOf[struct {
		RunID    uuid.UUID
		DefID    int64
		Workflow string
		Entered  int
	}](c, `select r.run_id, r.def_id, r.workflow, c.entered from core_private.workflow_runs r join core_private.workflow_cursors c on c.run_id = r.run_id and c.path = ''
		where r.workflow <> 'kid'`) {
		if r.Entered > common[r.Workflow] {
			parked = append(parked, still{r.RunID, r.DefID, dbtest.Get[int64](db, did, r.RunID), r.Workflow})
			c.parked = append(c.parked, r.RunID)
		}
	}
	foretold := map[uuid.UUID]bool{}
	for _, m := range next[1:] {
		unfit, err := m.Check(t.Context(), db.Pool, ns)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range unfit {
			foretold[u.Run] = true
		}
	}
	for _, p := range parked {
		if !foretold[p.id] {
			t.Errorf("%s: Check says nothing of %s", p.flow, p.id)
		}
		delete(foretold, p.id)
	}
	if len(foretold) > 0 {
		t.Errorf("Check says of runs that fit that they do not: %v", foretold)
	}
	unfinished := dbtest.Get[int](db, `select count(*)::int from core_private.workflow_runs where finished_at is null and workflow <> 'kid'`)
	decided := map[uuid.UUID]bool{} // what is being undone has failed by its old code
	for _, r := range rowsOf[struct{ RunID uuid.UUID }](c, `select run_id from core_private.workflow_runs where status <> 'open'`) {
		decided[r.RunID] = true
	}
	db.Advance(time.Minute) // before there is a node whose silence it would be
	deploy("new", next)
	for _, s := range c.all() { // more than any form of it takes, and of what it has gone on as
		for _, m := range []*made{s.flow, next[slices.Index(c.flows, s.flow)]} {
			for name, n := range play(m.random, s.plan).waits {
				for range n {
					s.sent[name]++ // those of one chain are counted together
					if got, err := workflow.Signal(t.Context(), db.Owner, s.id, name, s.sent[name]); err != nil || got == workflow.NotFound {
						t.Fatal(got, err)
					}
				}
			}
		}
	}
	db.Exec(`select core_private.maintain_workflows()`)
	c.settle()
	for _, p := range parked {
		got := dbtest.Get[string](db, `select format('%s %s %s', status, def_id, (`+did+`)) from core_private.workflow_runs where run_id = $1`, p.id)
		if want := fmt.Sprint("open ", p.def, " ", p.did); got != want && got[:4] == "open" {
			t.Errorf("%s, %s after %d: a run that has begun more is %s, and not %s", p.flow, how[p.flow], common[p.flow], got, want)
		}
		db.Wait(`select not exists (select from core.workflow_waits where run_id = $1 and waits_for = 'node' and due_at <= core.now() and why not like '%definition_mismatch%')`, p.id)
	}
	c.parked = nil
	deploy("again", builtAll(seed, db.Pool))
	c.settle()
	for _, s := range c.all() {
		if !decided[s.id] {
			s.flow = c.byDef[dbtest.Get[int64](db, `select def_id from core_private.workflow_runs where run_id = $1`, s.id)]
		}
		c.check(s)
	}
	if t.Failed() {
		for i, f := range c.flows {
			t.Logf("%s\n%s %s after %d", f, next[i], how[f.name], common[f.name])
		}
	}
	t.Logf("%d of %d runs were not over, and %d did not fit: %v", unfinished, len(c.runs), len(parked), how)
}
