package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/workflow"
)

// builtAll are the workflows of a seed.
func builtAll(seed uint64, db execer) []*made {
	var all []*made
	for _, f := range drawn(seed) {
		var kid *made
		if all != nil {
			kid = all[0]
		}
		all = append(all, build(f, db, kid))
	}
	return all
}

// worker is a process that is begun anew whenever it dies.
type worker struct {
	mu     sync.Mutex
	cmd    *exec.Cmd
	deaths int
}

// employ keeps a process in that mode alive until the test ends, and calls died after each death.
func employ(t *testing.T, db *dbtest.DB, mode string, died func(ctx context.Context)) *worker {
	t.Helper()
	w := &worker{}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		for ctx.Err() == nil {
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Env = append(os.Environ(), envChildURL+"="+db.URL, envChildMode+"="+mode)
			if os.Getenv("NEXUS_TEST_LOG") != "" {
				cmd.Stderr = os.Stderr
			}
			w.mu.Lock()
			err := cmd.Start()
			w.cmd = cmd
			w.mu.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			_ = cmd.Wait()
			if ctx.Err() == nil {
				w.mu.Lock()
				w.deaths++
				w.mu.Unlock()
				died(ctx)
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-over })
	return w
}

func (w *worker) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cmd != nil && w.cmd.Process != nil {
		_ = w.cmd.Process.Kill()
	}
}

// trial is a number of random runs, and what is done to them.
type trial struct {
	t       *testing.T
	db      *dbtest.DB
	rnd     *rand.Rand
	flows   []*made
	workers []*worker
	runs    []*subject

	lives  bool            // no process dies, and no compensation fails for good
	byDef  map[int64]*made // where there are several forms of one
	parked []uuid.UUID     // which nobody waits for
}

// subject is a run, of which the plan is known.
type subject struct {
	id     uuid.UUID
	flow   *made
	plan   plan
	cancel string // plain, undo: what was asked for, and said to be done
	fork   bool
	sent   map[string]int
	mended bool // it was retried after what was bad in its plan was mended
}

// holds: W2 (random), W4 (random), W7 (random), W8 (random), W9 (random), W10 (random), W13 (random)
// Random workflows against a plain program: whatever dies, is cut, cancelled, signalled or forked meanwhile, runs end, or go on as new ones, as that
// does, or as was asked for; what was committed is there once, and what is undone is undone once and in reverse. A seed does one trial again: NEXUS_TEST_SEED=7.
// holds: others-branches, others-children (killed)
func TestRandomWorkflows(t *testing.T) {
	t.Parallel()
	trials, runs := 1, 20
	if long() {
		trials, runs = 10, 100
	}
	seeded(t, trials, runs, try)
}

// seeded makes trials by seeds that it prints, or the one trial that NEXUS_TEST_SEED names.
func seeded(t *testing.T, trials, runs int, trial func(t *testing.T, seed uint64, runs int)) {
	t.Helper()
	seed := rand.Uint64() % 1_000_000
	if said := os.Getenv("NEXUS_TEST_SEED"); said != "" {
		var err error
		if seed, err = strconv.ParseUint(said, 10, 64); err != nil {
			t.Fatal(err)
		}
		trials = 1
	}
	for i := range uint64(trials) {
		t.Run(fmt.Sprint("NEXUS_TEST_SEED=", seed+i), func(t *testing.T) {
			t.Parallel()
			trial(t, seed+i, runs)
		})
	}
}

func try(t *testing.T, seed uint64, runs int) {
	t.Helper()
	db := newDB(t)
	undoInSQL(t, db)
	c := &trial{t: t, db: db, rnd: rand.New(rand.NewPCG(seed, 2)), flows: builtAll(seed, db.Pool)}
	for _, id := range []string{"one", "two"} {
		c.workers = append(c.workers, employ(t, db, fmt.Sprint("random ", id, " ", seed), func(ctx context.Context) {
			// Its leases end, and those of the living do not.
			_, _ = db.Owner.Exec(ctx, `update core_private.workflow_cursors set due_at = core.now() where node_id = $1 and token is not null`, id)
		}))
	}
	db.Wait(`select count(*) = $1 from core_private.workflow_definitions`, len(c.flows))
	c.play(runs)
	c.settle()
	c.mend()
	for _, s := range c.all() {
		c.check(s)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core_private.workflow_cursors`); n != 0 {
		t.Errorf("%d cursors are left", n)
	}
	if t.Failed() {
		for _, f := range c.flows {
			t.Log(f)
		}
	}
	deaths := 0
	for _, w := range c.workers {
		deaths += w.deaths
	}
	t.Logf("%d runs, of them %d went on as new ones, and %s; %d steps, %d deaths", dbtest.Get[int](db, `select count(*)::int from core_private.workflow_runs`),
		dbtest.Get[int](db, `select count(continued_as)::int from core_private.workflow_runs`),
		dbtest.Get[string](db, `select string_agg(n || ' ' || status, ', ') from (select status, count(*) as n from core_private.workflow_runs group by 1 order by 1) x`),
		dbtest.Get[int](db, `select count(*)::int from core_private.workflow_journal`), deaths)
}

// play does all that is done to the runs, in random order.
func (c *trial) play(runs int) {
	var todo []func()
	for range runs {
		todo = append(todo, c.begin)
	}
	for range runs / 8 {
		todo = append(todo, c.cancel, c.fork, c.cut, func() { c.workers[c.rnd.IntN(len(c.workers))].kill() })
	}
	todo = append(todo, func() { c.db.Advance(4 * time.Second) }) // ends leases of the living
	c.rnd.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
	for _, do := range todo {
		do()
		c.progress(c.rnd.IntN(20))
	}
}

// progress waits until so many more steps are done, or nothing goes on.
func (c *trial) progress(steps int) {
	const now = `select coalesce(max(seq), 0) from core_private.workflow_journal`
	c.db.Wait(`select (`+now+`) >= $1 or not exists (select from core_private.workflow_cursors where due_at < core.now() + '50 ms')`,
		dbtest.Get[int64](c.db, now)+int64(steps))
}

func (c *trial) begin() {
	flow := c.flows[1+c.rnd.IntN(len(c.flows)-1)]
	p := plan{Seed: c.rnd.Uint32(), Dies: !c.lives, Left: c.rnd.IntN(3)}
	all := play(flow.random, p)
	if c.rnd.IntN(3) == 0 { // something fails for good
		for range 1 + c.rnd.IntN(2) {
			p.Bad = append(p.Bad, all.fallible[c.rnd.IntN(len(all.fallible))])
		}
		if undoable := slices.DeleteFunc(slices.Clone(all.did), func(s step) bool { return s.part.undo == "" }); len(undoable) > 0 && !c.lives && c.rnd.IntN(3) == 0 {
			p.Stuck = undoable[c.rnd.IntN(len(undoable))].key + "~undo"
		}
	}
	id, started, err := flow.Start(c.t.Context(), c.db.Owner, ns, p, nil)
	if err != nil || !started {
		c.t.Fatal(started, err)
	}
	s := &subject{id: id, flow: flow, plan: p, sent: map[string]int{}}
	c.runs = append(c.runs, s)
	c.signal(s, c.rnd.IntN(3))
}

// signal sends as many signals of each name as the run waits for, less so many, which come later.
func (c *trial) signal(s *subject, less int) {
	for name, n := range play(s.flow.random, s.plan).waits {
		for i := s.sent[name]; i < n-less; i++ {
			s.sent[name]++
			if got, err := workflow.Signal(c.t.Context(), c.db.Owner, s.id, name, i); err != nil || got == workflow.NotFound {
				c.t.Fatal(got, err)
			}
		}
	}
}

func (c *trial) any() *subject {
	if len(c.runs) == 0 {
		c.begin()
	}
	return c.runs[c.rnd.IntN(len(c.runs))]
}

func (c *trial) cancel() {
	s := c.any()
	undo := c.rnd.IntN(2) == 0
	got, err := workflow.Cancel(c.t.Context(), c.db.Owner, s.id, undo, "planned")
	if err != nil || got == workflow.NotFound {
		c.t.Fatal(got, err)
	}
	if got == workflow.Cancelled && s.cancel == "" {
		s.cancel = map[bool]string{true: "undo", false: "plain"}[undo]
	}
}

func (c *trial) fork() {
	s := c.any()
	top := s.flow.root.parts
	step := top[c.rnd.IntN(len(top))].name
	come := dbtest.Get[bool](c.db, "select exists (select from core_private.workflow_journal where run_id = $1 and key = $2)", s.id, step)
	id, err := workflow.Fork(c.t.Context(), c.db.Owner, s.id, step)
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		switch {
		case e.Code == "NX227": // something of it was undone
			return
		case e.Code == "NX117" && !come:
			return
		}
	}
	if err != nil {
		c.t.Fatal(err)
	}
	f := &subject{id: id, flow: s.flow, sent: map[string]int{}, fork: true}
	// Of a run that went on as a new one the last is forked, which has another plan.
	if err := json.Unmarshal(dbtest.Get[[]byte](c.db, `select input from core_private.workflow_runs where run_id = $1`, id), &f.plan); err != nil {
		c.t.Fatal(err)
	}
	c.runs = append(c.runs, f)
	c.signal(f, 0)
}

// cut ends some sessions of the workers, whatever they are in.
func (c *trial) cut() {
	c.db.Exec(`select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and usename = $1 and pid <> pg_backend_pid() and random() < 0.5`, c.db.Pool.Config().ConnConfig.User)
}

// settle waits until all has ended, and sends and does what is to be.
func (c *trial) settle() {
	for _, s := range c.runs {
		c.signal(s, 0)
	}
	if c.parked == nil {
		c.parked = []uuid.UUID{}
	}
	undoing := connectAs(c.t, c.db.SQLURL())
	const (
		over   = `not exists (select from core_private.workflow_runs where finished_at is null and status <> 'compensation_failed' and run_id <> all ($1))`
		parked = `select distinct run_id from core_private.workflow_cursors where state = 'P'`
	)
	for !dbtest.Get[bool](c.db, `select `+over, c.parked) {
		c.db.Wait(over+` or exists (select from core_private.workflow_cursors where sql_due_at <= core.now()) or exists (`+parked+`)`, c.parked)
		if err := undoing("call core.work_all('50 ms')"); err != nil {
			c.t.Fatal(err)
		}
		// What processes died in too often is for somebody to look at, who says here that it is well.
		for _, s := range rowsOf[struct{ RunID uuid.UUID }](c, parked) {
			if _, err := workflow.Retry(c.t.Context(), c.db.Owner, s.RunID); err != nil {
				c.t.Fatal(err)
			}
		}
	}
}

// mend has what was stuck and what failed go on, now that nothing in its plan is bad any more.
func (c *trial) mend() {
	for _, s := range c.runs {
		status := dbtest.Get[string](c.db, `select status from core_private.workflow_runs where run_id = $1`, s.id)
		if status != "compensation_failed" && (status != "failed" || c.rnd.IntN(2) == 0) {
			continue
		}
		p := s.plan
		p.Stuck = ""
		if status == "failed" {
			p.Bad = nil
		}
		text, err := json.Marshal(p)
		if err != nil {
			c.t.Fatal(err)
		}
		c.db.Exec(`update core_private.workflow_runs set input = $2 where run_id = $1`, s.id, string(text))
		resumed, err := workflow.Retry(c.t.Context(), c.db.Owner, s.id)
		if e, ok := errors.AsType[*nexus.Error](err); ok && e.Code == "NX227" && status == "failed" {
			continue
		}
		if err != nil || !resumed {
			c.t.Errorf("%s %s: %v %v", s.id, status, resumed, err)
		}
		s.plan, s.mended = p, true
		if status == "compensation_failed" && s.cancel == "plain" {
			s.cancel = "" // what the cancel gave up was the undoing, which has begun again
		}
	}
	c.settle()
}
