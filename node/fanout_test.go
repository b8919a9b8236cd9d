package node_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// fanSchema is what the test knows by itself: what handlers did, in their own transactions, and from which generation on a consumer had which
// patterns, noted in the transaction that changed them. No key is unique, since none may hide a double.
const fanSchema = `
	create table public.did (consumer text not null, event_uid uuid not null);
	create table public.plan (consumer text not null, mode text not null, patterns text[] not null);
	create table public.history (consumer text not null, generation bigint not null, patterns text[] not null, begins timestamptz);
	grant select, insert on public.did, public.plan to ` + dbtest.Login

// fanOut is a node process with handlers for the consumers of the plan, each in its mode.
func fanOut(ctx context.Context, pool *pgxpool.Pool, id string) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	for {
		err := fanOutOnce(ctx, pool, id)
		if !errors.Is(err, nexus.ErrConflict) { // patterns were altered between the look and the start
			return err
		}
	}
}

func fanOutOnce(ctx context.Context, pool *pgxpool.Pool, id string) error {
	rows, err := pool.Query(ctx, `select consumer, mode, patterns from public.plan`)
	if err != nil {
		return err
	}
	type planned struct {
		Name, Mode string
		Patterns   []string
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[planned])
	if err != nil {
		return err
	}
	n := node.New(pool, node.Config{
		Namespace: ns, ID: id, Lease: 2 * time.Second, Poll: 100 * time.Millisecond, Grace: 10 * time.Second,
		Retry: nexus.RetryPolicy{MaxAttempts: 50, Base: 20 * time.Millisecond, Max: 200 * time.Millisecond},
	})
	one := func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		_, err := tx.Exec(ctx, `insert into public.did values ($1, $2)`, d.Consumer, d.UID)
		return err
	}
	for _, c := range all {
		var to handling = n
		if c.Name != "default" {
			to = n.Subscribe(c.Name, c.Patterns...)
		}
		handleIn(pool, to, c.Mode, one)
	}
	return n.Run(ctx)
}

// handling is a node or a consumer of one.
type handling interface {
	On(pattern string, fn func(context.Context, pgx.Tx, *nexus.Delivery) error) *node.Handler
	OnBatch(pattern string, fn func(context.Context, pgx.Tx, []*nexus.Delivery) error) *node.Handler
	OnLeased(pattern string, fn func(context.Context, *nexus.Delivery) error) *node.Handler
}

// handleIn has one handle all events in a mode; what it does and the end of the delivery commit together in each.
func handleIn(pool *pgxpool.Pool, to handling, mode string, one func(context.Context, pgx.Tx, *nexus.Delivery) error) *node.Handler {
	switch mode {
	case "On":
		return to.On("*", one)
	case "express":
		h := to.On("*", one)
		h.Express = true
		return h
	case "batch":
		return to.OnBatch("*", eachOf(one))
	case "leased":
		return to.OnLeased("*", func(ctx context.Context, d *nexus.Delivery) error {
			return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
				if err := one(ctx, tx, d); err != nil {
					return err
				}
				return queue.Ack(ctx, tx, d)
			})
		})
	}
	panic("there is no mode " + mode)
}

// process is a node process, whose end is waited for in one place.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
	said  *buffer
}

func (p *process) end(s os.Signal) {
	_ = p.cmd.Process.Signal(s)
	<-p.ended
}

// fan is a run: its processes, and who changes consumers and ends processes meanwhile.
type fan struct {
	t      *testing.T
	db     *dbtest.DB
	rand   *rand.Rand
	killed bool // processes are killed, and backends ended; else processes are stopped
	nodes  []*process
	began  int // processes
	paused map[string]bool
	brief  []string // consumers that may be dropped
	made   int
	added  int // consumers
	cut    int // backfills that were cut off in their middle
}

// begin starts a process in that place and waits until it works. One that ended at its start, as it may where its connections are, is followed by another.
func (f *fan) begin(place int) {
	f.t.Helper()
	for range 20 {
		f.began++
		id := fmt.Sprintf("fan-%d", f.began)
		p := &process{cmd: exec.Command(os.Args[0]), ended: make(chan struct{}), said: new(buffer)}
		p.cmd.Env = append(os.Environ(), envChildURL+"="+f.db.URL, envChildMode+"=fan-out "+id)
		p.cmd.Stderr = p.said
		if err := p.cmd.Start(); err != nil {
			f.t.Fatal(err)
		}
		f.nodes[place] = p
		go func() { _ = p.cmd.Wait(); close(p.ended) }()
		for alive := true; alive; {
			if dbtest.Get[bool](f.db, `select exists (select from core.nodes where node_id = $1 and state = 'active') from pg_sleep(0.01)`, id) {
				return
			}
			select {
			case <-p.ended:
				alive = false
			default:
			}
		}
	}
	f.t.Fatalf("no process begins: %s", f.nodes[place].said)
}

func (f *fan) replace(place int) {
	f.t.Helper()
	if f.killed {
		f.nodes[place].end(syscall.SIGKILL)
	} else {
		f.nodes[place].end(syscall.SIGTERM)
		if said := f.nodes[place].said.String(); f.nodes[place].cmd.ProcessState.ExitCode() != 0 {
			f.t.Errorf("a process that was stopped ends with %s: %s", f.nodes[place].cmd.ProcessState, said)
		}
	}
	f.begin(place)
}

// change makes a change of a consumer and notes from which generation on it holds. Its caller has the namespace's row, so nobody comes between.
func (f *fan) change(consumer, call string, patterns []string, begins any) {
	f.t.Helper()
	err := pgx.BeginFunc(f.t.Context(), f.db.Owner, func(tx pgx.Tx) error {
		if _, err := tx.Exec(f.t.Context(), call, consumer, patterns, begins); err != nil {
			return err
		}
		if _, err := tx.Exec(f.t.Context(), `update public.plan set patterns = $2 where consumer = $1`, consumer, patterns); err != nil {
			return err
		}
		_, err := tx.Exec(f.t.Context(), `insert into public.history select $1, n.consumer_generation, $2, case $3::text when 'beginning' then '-infinity' else $3::timestamptz end
			from core.namespaces n where n.namespace = 'shop'`, consumer, patterns, begins)
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fan) create(consumer, mode string, patterns []string, from any) {
	f.t.Helper()
	f.added++
	f.change(consumer, `select core.create_consumer('shop', $1, $2, jsonb_strip_nulls(jsonb_build_object('from', $3::text, 'levels', 1 + length($1) % 2)))`, patterns, from)
	f.db.Exec(`insert into public.plan values ($1, $2, $3)`, consumer, mode, patterns)
}

// The kinds of steps.
const (
	pauses = iota
	alters
	altersBack
	createsFromBeginning
	creates
	drops
	strikes
	kinds
)

// step is one change; what of, is drawn at random.
func (f *fan) step(kind int) {
	f.t.Helper()
	some := func(of ...string) string { return of[f.rand.Intn(len(of))] }
	patterns := func() []string {
		return [][]string{{"a.*"}, {"b.*"}, {"a.*", "b.*"}, {"*"}, {"a.x", "c.*"}}[f.rand.Intn(5)]
	}
	mode := func() string { return some("On", "express", "batch", "leased") }
	f.made++
	name := func(what string) string { return fmt.Sprintf("%s%d", what, f.made) }
	switch kind {
	case pauses:
		c := some("default", "on", "express", "batch", "leased")
		verb := "pause"
		if f.paused[c] {
			verb = "resume"
		}
		f.paused[c] = !f.paused[c]
		f.db.Exec(`select core.`+verb+`_consumer('shop', $1)`, c)
	case alters:
		f.change(some("express", "leased", "batch"), `select core.alter_consumer('shop', $1, $2) where $3::text is null`, patterns(), nil)
	case altersBack: // with what it had not got of the past
		f.change(some("express", "leased"), `select core.alter_consumer('shop', $1, $2, jsonb_build_object('backfill', $3::text))`, patterns(), some("beginning", f.past()))
	case createsFromBeginning:
		f.create(name("late"), mode(), patterns(), "beginning")
		f.cutBackfill()
	case creates:
		f.create(name("timed"), mode(), patterns(), f.past())
		f.create(name("fresh"), mode(), patterns(), nil)
	case drops: // what an earlier step made
		if len(f.brief) == 0 {
			f.brief = append(f.brief, name("brief"))
			f.create(f.brief[0], mode(), []string{"*"}, "beginning")
			break
		}
		// Who starts does not make it anew; who runs loses it.
		f.db.Exec(`delete from public.plan where consumer = $1`, f.brief[0])
		f.db.Exec(`select core.alter_consumer('shop', $1, '{b.*}', '{"drop_unmatched": true}')`, f.brief[0])
		f.db.Exec(`select core.drop_consumer('shop', $1, true)`, f.brief[0])
		f.brief = nil
	case strikes:
		if f.killed {
			f.db.Exec(`select pg_terminate_backend(pid) from (select pid from pg_stat_activity where datname = current_database() and usename = $1 order by random() limit 5) s`, dbtest.Login)
		}
		f.replace(f.rand.Intn(len(f.nodes)))
	}
}

// past is a time of the log.
func (f *fan) past() string {
	return dbtest.Get[string](f.db, `select emitted_at::text from core.event_log order by md5(event_id::text || $1) limit 1`, fmt.Sprint(f.made))
}

// cutBackfill ends the session that is at a backfill, if it meets one.
func (f *fan) cutBackfill() {
	f.t.Helper()
	if !f.killed {
		return
	}
	for range 300 {
		if dbtest.Get[bool](f.db, `select count(pg_terminate_backend(pid)) > 0 from (select l.pid from pg_locks l, pg_sleep(0.01)
			 where l.relation = 'core_private.backfills'::regclass and l.mode = 'RowExclusiveLock' and l.pid <> pg_backend_pid()) s`) {
			f.cut++
			return
		}
	}
}

// sweep runs backfills beside the nodes' own upkeep, in a session that may be ended.
func (f *fan) sweep(ctx context.Context) {
	for ctx.Err() == nil {
		conn, err := pgx.Connect(ctx, f.db.OwnerURL)
		if err != nil {
			continue
		}
		for err == nil {
			_, err = conn.Exec(ctx, `select core.run_sweep('backfills'), core.run_sweep('left_queues'), pg_sleep(0.1)`)
		}
		_ = conn.Close(context.Background())
	}
}

// emitFan emits in transactions of all kinds, a fifth of which are rolled back, until that many events are in the log.
func emitFan(ctx context.Context, url string, seed int64, left *atomic.Int64, long time.Duration) error {
	r := rand.New(rand.NewSource(seed))
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }()
	hold := func() string {
		d := time.Duration(r.Intn(50)) * time.Millisecond
		if r.Intn(16) == 0 {
			d = time.Duration(r.Int63n(int64(long)))
		}
		return fmt.Sprintf("select pg_sleep(%g)", d.Seconds()/2)
	}
	for left.Load() > 0 {
		n := 1 + r.Intn(60)
		begin, end := "begin", "commit"
		if r.Intn(4) == 0 {
			begin = "begin isolation level repeatable read"
		}
		if r.Intn(5) == 0 {
			end = "rollback"
		}
		for _, sql := range []string{
			begin, "select count(*) from core.namespaces", hold(),
			`select core.emit('shop', 'a.x'), core.emit('shop', 'b.x', '1', '{"delay": "1 s"}'), core.emit('shop', 'c.x', '{}', '{"priority": 2}')`, hold(),
			fmt.Sprintf(`select core.emit_batch('shop', array_agg((array['a.x', 'a.y', 'b.x', 'c.x'])[1 + i %% 4]), array_agg(to_jsonb(i)),
				array_agg(case when i %% 10 = 0 then '{"delay": "2 s"}' when i %% 7 = 0 then '{"priority": 2}' end::jsonb)) from generate_series(1, %d) i`, n),
			end,
		} {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		if end == "commit" {
			left.Add(int64(-n - 3))
		}
	}
	return nil
}

// fanCheck compares what each consumer's handlers did with what it must have: by the patterns it had in the event's generation, and by each of its backfills
// for events of an older one. One that was dropped may have less.
const fanCheck = `
	with want as (
	  select h.consumer, e.event_uid
	    from public.history h join core.event_log e on exists (select from unnest(h.patterns) p where e.event_type like replace(p, '*', '%'))
	   where h.generation = (select max(o.generation) from public.history o where o.consumer = h.consumer and o.generation <= coalesce(e.consumer_generation, 0))
	      or coalesce(e.consumer_generation, 0) < h.generation and e.emitted_at >= h.begins
	   union
	  select 'default', e.event_uid from core.event_log e),
	did as (select d.consumer, d.event_uid, count(*) as n from public.did d group by 1, 2)
	select coalesce(string_agg(s.said, e'\n' order by s.consumer), '')
	  from (
	    select consumer, format('%s: %s events, %s missed, %s doubled, %s too many', consumer, count(w.event_uid),
	                            count(*) filter (where d.event_uid is null), count(*) filter (where d.n > 1), count(*) filter (where w.event_uid is null)) as said,
	           bool_or(d.event_uid is null and consumer !~ '^brief') or bool_or(d.n > 1 or w.event_uid is null) as bad
	      from want w full join did d using (consumer, event_uid)
	     group by consumer) s
	 where s.bad or $1`

// Five consumers with handlers of all modes, while emitters hold transactions open and roll back, consumers are paused, altered, dropped and added (from
// now, from the beginning, from a time), and processes are replaced, or killed with -9 and backends ended, also in the middle of a backfill: by the handlers' own
// tables, each event of the log came once to each consumer that must have it, and nothing else did.
// holds: C1, C2, C3, H1 (transactional), H2 (leased), H3-deaths (express)
func TestFanOut(t *testing.T) {
	t.Parallel()
	events, long, steps := int64(800), 500*time.Millisecond, 8
	modes := []bool{true}
	if os.Getenv("NEXUS_TEST_LONG") != "" {
		events, long, steps = 20_000, 6*time.Second, 16
		modes = []bool{false, true}
	}
	for _, killed := range modes {
		t.Run(map[bool]string{false: "stopped", true: "killed"}[killed], func(t *testing.T) {
			t.Parallel()
			db := dbtest.New(t)
			db.Namespace("shop")
			db.Exec(fanSchema)
			seed := time.Now().UnixNano()
			t.Logf("seed %d", seed)
			f := &fan{t: t, db: db, rand: rand.New(rand.NewSource(seed)), killed: killed, nodes: make([]*process, 3), paused: map[string]bool{}}
			db.Exec(`insert into public.plan values ('default', 'express', '{}')`)
			for name, patterns := range map[string][]string{"on": {"a.*", "b.*"}, "express": {"a.*"}, "batch": {"*"}, "leased": {"a.*", "c.*"}} {
				mode := name
				if name == "on" {
					mode = "On"
				}
				f.create(name, mode, patterns, nil)
			}
			db.Exec(`select core.emit_batch('shop', array_agg((array['a.x', 'b.x', 'c.x'])[1 + i % 3]), array_agg(to_jsonb(i))) from generate_series(1, $1) i`, events/4)
			for i := range f.nodes {
				f.begin(i)
				defer func() { f.nodes[i].end(syscall.SIGKILL) }()
			}
			ctx, cancel := context.WithCancel(t.Context())
			var helpers, emitters sync.WaitGroup
			defer helpers.Wait()
			defer cancel()
			helpers.Go(func() { f.sweep(ctx) })
			var left atomic.Int64
			left.Store(events - events/4)
			errs := make([]error, 6)
			for i := range errs {
				emitters.Go(func() { errs[i] = emitFan(ctx, db.OwnerURL, seed+int64(i), &left, long) })
			}
			// Changes go on for as long as events come, and a while longer.
			for i := range steps {
				f.step([]int{createsFromBeginning, drops, alters, pauses, strikes, creates, drops, altersBack}[i%8])
			}
			for left.Load() > 0 {
				kind := f.rand.Intn(kinds)
				if f.added >= 16 && (kind == creates || kind == createsFromBeginning) {
					kind = alters
				}
				f.step(kind)
				db.Exec(`select pg_sleep($1)`, f.rand.Float64()/2)
			}
			emitters.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			for c, paused := range f.paused {
				if paused {
					db.Exec(`select core.resume_consumer('shop', $1)`, c)
				}
			}
			for i := range f.nodes { // so that all know all consumers
				f.replace(i)
			}
			goesOn(db, fanOver)
			t.Logf("%d processes, %d backfills cut off\n%s", f.began, f.cut, dbtest.Get[string](db, fanCheck, true))
			if wrong := dbtest.Get[string](db, fanCheck, false); wrong != "" {
				t.Error(wrong)
			}
			if got := dbtest.Get[string](db, `select coalesce(string_agg(format('%s %s %s', consumer, reason, last_error), e'\n'), '') from core.dead_letters`); got != "" {
				t.Errorf("dead letters: %s", got)
			}
			for _, p := range f.nodes {
				if s := p.said.String(); strings.Contains(s, "panic") {
					t.Error(s)
				}
			}
		})
	}
}

// goesOn waits until a condition holds, for as long as handlers do something.
func goesOn(db *dbtest.DB, over string) {
	for !dbtest.Get[bool](db, `select `+over) {
		before := dbtest.Get[int](db, `select count(*)::int from public.did`)
		db.Wait(`select pg_sleep(0.1) is not null and (count(*) > $1 or `+over+`) from public.did`, before)
	}
}

// fanOver says that nothing is left anywhere.
const fanOver = `not exists (select from core.consumer_status where backfill <> 'done') and not exists (
	select from core.queue_metrics m join core.queues q using (queue_name) where q.consumer_id is not null and q.dropped_at is null and m.queue_length + m.delayed + m.parked > 0)`
