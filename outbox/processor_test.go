package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
	"github.com/nexuspg/nexus/queue"
)

const ns = "shop"

// newDB has a table of what handlers did.
func newDB(t *testing.T) *dbtest.DB {
	t.Helper()
	db := dbtest.New(t)
	db.Namespace(ns)
	db.Exec(`create table public.effect (n bigint generated always as identity, lane int, seq bigint, body text, attempt int)`)
	db.Exec(`grant all on public.effect to public`)
	return db
}

func register(t *testing.T, db *dbtest.DB, queue string, lanes int, opts *outbox.QueueOptions) {
	t.Helper()
	if made, err := outbox.RegisterQueue(t.Context(), db.Pool, ns, queue, lanes, opts); err != nil || !made {
		t.Fatal(made, err)
	}
}

func enqueue(t *testing.T, db *dbtest.DB, queue string, bodies ...string) {
	t.Helper()
	var batch []outbox.Message
	for _, b := range bodies {
		batch = append(batch, outbox.Message{Queue: queue, Key: "one", Type: "text/plain", Body: []byte(b)})
	}
	if _, err := outbox.EnqueueBatch(t.Context(), db.Owner, ns, batch); err != nil {
		t.Fatal(err)
	}
}

// start runs a node with these services until the test ends.
func start(t *testing.T, db *dbtest.DB, cfg node.Config, services ...node.Service) (stop func()) {
	t.Helper()
	cfg.Namespace = ns
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	n := node.New(db.Pool, cfg)
	n.Add(services...)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	var once atomic.Bool
	stop = func() {
		if cancel(); once.CompareAndSwap(false, true) {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	return stop
}

func note(ctx context.Context, tx pgx.Tx, m *outbox.Item) error {
	_, err := tx.Exec(ctx, `insert into public.effect (lane, seq, body, attempt) values ($1::text::int, $2::text::bigint, $3::text, $4::text::int)`,
		fmt.Sprint(m.Lane), fmt.Sprint(m.Seq), string(m.Body), fmt.Sprint(m.Attempt))
	return err
}

var quick = &outbox.QueueOptions{Retry: nexus.RetryPolicy{MaxAttempts: 3, Base: time.Millisecond, Max: time.Millisecond}}

func numbers(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint(i+1))
	}
	return all
}

const inOrder = `select coalesce(string_agg(body, ' ' order by n), '') from public.effect`

// holds: LN6, LN7, LN9
// A message that fails is retried with what it wrote undone, and holds up its lane; in the end it is a dead letter, and the others went on in
// their order. Alone and in a batch.
// holds: others-poison
func TestPoison(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]func(calls *atomic.Int64) *outbox.Processor{
		"one": func(calls *atomic.Int64) *outbox.Processor {
			return outbox.Handle("pay", func(ctx context.Context, tx pgx.Tx, m *outbox.Item) error {
				calls.Add(1)
				if err := note(ctx, tx, m); err != nil {
					return err
				}
				if string(m.Body) == "37" {
					return errors.New("poison")
				}
				return nil
			})
		},
		"batch": func(calls *atomic.Int64) *outbox.Processor {
			return outbox.HandleBatch("pay", func(ctx context.Context, tx pgx.Tx, batch []*outbox.Item) error {
				calls.Add(1)
				for _, m := range batch {
					if err := note(ctx, tx, m); err != nil {
						return err
					}
					if string(m.Body) == "37" {
						return errors.New("poison")
					}
				}
				return nil
			})
		},
		"leased": func(calls *atomic.Int64) *outbox.Processor {
			return outbox.HandleLeased("pay", func(_ context.Context, m *outbox.Item) error {
				calls.Add(1)
				if string(m.Body) == "37" {
					return errors.New("poison")
				}
				return nil
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			register(t, db, "pay", 1, quick)
			enqueue(t, db, "pay", numbers(50)...)
			var calls atomic.Int64
			start(t, db, node.Config{Poll: 20 * time.Millisecond}, p(&calls))
			db.Wait("select seq = 50 from core.lane_status")
			if name != "leased" {
				if got, want := dbtest.Get[string](db, inOrder), strings.ReplaceAll(strings.Join(numbers(50), " "), " 37", ""); got != want {
					t.Errorf("got %s", got)
				}
			}
			dead := dbtest.Get[string](db, "select format('%s %s %s %s %s', lane_seq, convert_from(body, 'UTF8'), attempts, reason, last_error) from core.dead_letters")
			if dead != "37 37 3 error poison" {
				t.Error(dead)
			}
			if name == "batch" && calls.Load() > 12 {
				t.Errorf("%d calls until it was known, given up and the rest done", calls.Load())
			}
			db.Exec("select core.replay_dead_letter(dead_letter_id) from core.dead_letters")
			db.Wait("select count(*) = 2 from core.dead_letters")
			if seq := dbtest.Get[int64](db, "select max(lane_seq) from core.dead_letters"); seq != 51 {
				t.Errorf("it came again as number %d", seq)
			}
		})
	}
}

// holds: LN6
// What a verdict asks for.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 1, quick)
	enqueue(t, db, "pay", "reject", "release", "late", "ok")
	var released atomic.Bool
	start(t, db, node.Config{Poll: 20 * time.Millisecond}, outbox.Handle("pay", func(ctx context.Context, tx pgx.Tx, m *outbox.Item) error {
		if err := note(ctx, tx, m); err != nil {
			return err
		}
		switch {
		case string(m.Body) == "reject":
			return nexus.Reject("no such account")
		case string(m.Body) == "release" && released.CompareAndSwap(false, true):
			return nexus.Release(0)
		case string(m.Body) == "late" && m.Attempt == 1:
			return nexus.Retry(time.Millisecond)
		}
		return nil
	}))
	db.Wait("select seq = 4 from core.lane_status")
	if got := dbtest.Get[string](db, "select string_agg(body || ' ' || seq || ' ' || attempt, ', ' order by n) from public.effect"); got != "release 2 1, late 3 2, ok 4 1" {
		t.Error(got)
	}
	if got := dbtest.Get[string](db, "select reason from core.outbox_dead_letters"); got != "no such account" {
		t.Error(got)
	}
}

// holds: LN4
// With an hour between polls only a wake-up explains that a message is handled.
func TestWakeUp(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 2, nil)
	start(t, db, node.Config{Poll: time.Hour}, outbox.Handle("pay", note))
	for i := range 3 {
		db.Wait("select waiting_until > core.now() from core_private.wake_flags where key = 'outbox shop pay'")
		enqueue(t, db, "pay", fmt.Sprint(i))
		db.Wait("select count(*) = $1 from public.effect", i+1)
	}
}

// holds: LN7 (halt)
// A lane that halts says so, and goes on when it is told to, with the message or without.
// holds: others-poison
func TestHalt(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 1, &outbox.QueueOptions{Halt: true, Retry: quick.Retry})
	enqueue(t, db, "pay", "bad", "good", "bad")
	var mended atomic.Bool
	start(t, db, node.Config{Poll: 20 * time.Millisecond}, outbox.Handle("pay", func(ctx context.Context, tx pgx.Tx, m *outbox.Item) error {
		if string(m.Body) == "bad" && !mended.Load() {
			return errors.New("no")
		}
		return note(ctx, tx, m)
	}))
	db.Wait("select state = 'halted' and why = 'halted at message 1' and last_error = 'no' and lag = 3 from core.lane_status")
	mended.Store(true)
	if resumed, err := outbox.Resume(t.Context(), db.Owner, ns, "pay", 0, "mended"); !resumed || err != nil {
		t.Fatal(resumed, err)
	}
	db.Wait("select seq = 3 and blocked_since is null and last_error is null from core.lane_status")
	mended.Store(false)
	enqueue(t, db, "pay", "bad", "more")
	db.Wait("select state = 'halted' and seq = 3 from core.lane_status")
	if _, err := outbox.SkipMessage(t.Context(), db.Owner, ns, "pay", 0, 5, "of no use"); !errors.Is(err, nexus.ErrConflict) {
		t.Error("not the message that was meant:", err)
	}
	if seq, err := outbox.SkipMessage(t.Context(), db.Owner, ns, "pay", 0, 4, "of no use"); seq != 4 || err != nil {
		t.Fatal(seq, err)
	}
	db.Wait("select seq = 5 from core.lane_status")
	if got := dbtest.Get[string](db, "select reason || ' ' || last_error from core.dead_letters"); got != "skipped no" {
		t.Error("the cause is not kept:", got)
	}
}

// holds: LN7 (halt)
// A queue is paused and resumed as a consumer is, for all of its lanes; what only a consumer of events has it has not.
func TestAPausedQueue(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 2, nil)
	if paused, err := queue.PauseConsumer(t.Context(), db.Owner, ns, "pay"); !paused || err != nil {
		t.Fatal(paused, err)
	}
	enqueue(t, db, "pay", "1")
	n := node.New(db.Pool, node.Config{Namespace: ns, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	n.Add(outbox.Handle("pay", note))
	if done, err := n.Work(t.Context(), 10); done != 0 || err != nil {
		t.Fatal(done, err)
	}
	if why := dbtest.Get[string](db, "select why from core.lane_status where lag = 1"); why != "the queue is paused" {
		t.Error(why)
	}
	if resumed, err := queue.ResumeConsumer(t.Context(), db.Owner, ns, "pay"); !resumed || err != nil {
		t.Fatal(resumed, err)
	}
	if done, err := n.Work(t.Context(), 10); done != 1 || err != nil {
		t.Fatal(done, err)
	}
	for _, call := range []string{"drop_consumer('shop', 'pay', true)", "alter_consumer('shop', 'pay', p_options => '{\"max_in_flight\": 1}')", "replay_events('shop', 'pay', '{\"type\": \"*\"}')"} {
		if _, err := db.Owner.Exec(t.Context(), "select core."+call); err == nil || !strings.Contains(err.Error(), "is an outbox queue") {
			t.Error(call, err)
		}
	}
}

// holds: LN5
// Whoever drains finishes what he has in hand, and the next one takes over without a wait for a lease.
// holds: others-finished (lanes)
func TestDrain(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 1, nil)
	enqueue(t, db, "pay", numbers(20)...)
	at, goOn := make(chan struct{}), make(chan struct{})
	stop := start(t, db, node.Config{Poll: time.Hour}, outbox.HandleLeased("pay", func(_ context.Context, m *outbox.Item) error {
		if m.Seq == 3 {
			close(at)
			<-goOn
		}
		return nil
	}))
	<-at
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	db.Wait("select state = 'draining' from core.node_status")
	close(goOn)
	<-stopped
	if got := dbtest.Get[string](db, "select seq || ' ' || attempts || ' ' || coalesce(locked_by, 'free') from core.lane_status"); got != "3 0 free" {
		t.Error(got)
	}
	start(t, db, node.Config{}, outbox.Handle("pay", note))
	db.Wait("select seq = 20 from core.lane_status")
	if got, want := dbtest.Get[string](db, inOrder), strings.Join(numbers(20)[3:], " "); got != want {
		t.Error(got)
	}
}

// holds: LN5
// Whose lease ends while he is away changes nothing any more, and the attempt counts.
// holds: others-lease (lanes)
func TestALostLease(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 1, nil)
	enqueue(t, db, "pay", "1")
	var calls atomic.Int64
	var cause atomic.Value
	start(t, db, node.Config{Poll: 20 * time.Millisecond}, outbox.Handle("pay", func(ctx context.Context, tx pgx.Tx, m *outbox.Item) error {
		if err := note(ctx, tx, m); err != nil {
			return err
		}
		if calls.Add(1) == 1 {
			db.Exec("update core_private.lanes set ver = ver + 1, locked_until = core.now() - interval '1 s'")
			<-ctx.Done()
			cause.Store(context.Cause(ctx))
		}
		return nil
	}))
	db.Wait("select seq = 1 from core.lane_status")
	if err, _ := cause.Load().(error); !errors.Is(err, nexus.ErrLeaseLost) {
		t.Errorf("its context ended for %v", err)
	}
	if got := dbtest.Get[string](db, "select string_agg(body || ' ' || attempt, ', ') from public.effect"); got != "1 2" {
		t.Error(got)
	}
}

// Node.Work does what is due and returns how much.
func TestWork(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 3, nil)
	var batch []outbox.Message
	for i := range 100 {
		batch = append(batch, outbox.Message{Queue: "pay", Key: fmt.Sprint(i), Type: "t", Body: []byte(fmt.Sprint(i))})
	}
	if _, err := outbox.EnqueueBatch(t.Context(), db.Owner, ns, batch); err != nil {
		t.Fatal(err)
	}
	n := node.New(db.Pool, node.Config{Namespace: ns, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	n.Add(outbox.Handle("pay", note))
	if done, err := n.Work(t.Context(), 30); done != 30 || err != nil {
		t.Fatal(done, err)
	}
	if done, err := n.Work(t.Context(), 1000); done != 70 || err != nil {
		t.Fatal(done, err)
	}
}

// By the profile a lane that had little rests before it is looked at again, so that more comes together. Each message is there before the one
// before it is done, so nothing but the rest is waited for.
// holds: LN10
func TestALaneThatHadLittleRests(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	const all, rest = 10, 50 * time.Millisecond
	register(t, db, "thrifty", 1, &outbox.QueueOptions{Profile: outbox.HighThroughput})
	var looks []time.Time
	ended := make(chan struct{})
	enqueue(t, db, "thrifty", "1")
	stop := start(t, db, node.Config{}, outbox.HandleLeased("thrifty", func(ctx context.Context, m *outbox.Item) error {
		if looks = append(looks, time.Now()); len(looks) == all {
			close(ended)
			return nil
		}
		_, err := outbox.Enqueue(ctx, db.Pool, ns, outbox.Message{Queue: "thrifty", Key: "one", Type: "text/plain", Body: []byte("next")})
		return err
	}))
	<-ended
	stop()
	if took := looks[all-1].Sub(looks[0]); took < (all-2)*rest {
		t.Errorf("%d messages, one by one, were through after %s: less than a rest of %s each", all, took, rest)
	}
}

// What becomes of messages is counted, each once.
// holds: metrics (lanes)
func TestWhatIsCounted(t *testing.T) {
	t.Parallel()
	transactional, leased := byBody(), byBody()
	for name, p := range map[string]*outbox.Processor{
		"transactional": outbox.Handle("pay", func(_ context.Context, _ pgx.Tx, m *outbox.Item) error { return transactional(m) }),
		"leased":        outbox.HandleLeased("pay", func(_ context.Context, m *outbox.Item) error { return leased(m) }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			register(t, db, "pay", 1, &outbox.QueueOptions{Halt: true, Retry: quick.Retry})
			enqueue(t, db, "pay", "ok", "ok", "flaky", "reject", "ok", "release", "ok", "bad", "ok")
			reg := prometheus.NewRegistry()
			start(t, db, node.Config{Poll: 20 * time.Millisecond, Registerer: reg}, p)
			db.Wait("select state = 'halted' from core.lane_status")
			want := map[string]float64{"handled": 6, "retried": 3, "dead": 1, "halted": 1, "released": 1, "lost": 0}
			got := map[string]float64{}
			counts := func() map[string]float64 {
				families, err := reg.Gather()
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range families {
					if f.GetName() == "nexus_lane_messages_total" {
						for _, m := range f.Metric {
							got[m.Label[2].GetValue()] = m.GetCounter().GetValue()
						}
					}
				}
				delete(got, "split") // one of several fails: as often as they come together
				return got
			}
			// The database knows before the node does.
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for until := time.Now().Add(time.Minute); !cmp.Equal(counts(), want) && time.Now().Before(until); {
				<-tick.C
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// byBody fails as bodies say.
func byBody() func(m *outbox.Item) error {
	var released atomic.Bool
	return func(m *outbox.Item) error {
		switch body := string(m.Body); {
		case body == "reject":
			return nexus.Reject("no")
		case body == "release" && released.CompareAndSwap(false, true):
			return nexus.Release(0)
		case body == "flaky" && m.Attempt == 1, body == "bad":
			return errors.New("no")
		}
		return nil
	}
}

// What can't be meant is refused by Run, Work and Apply, and the error names it: two processors of a queue would each have some of its messages.
func TestProcessorsThatAreRefused(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 1, nil)
	register(t, db, "other", 1, nil)
	with := func(change func(*outbox.Processor)) *outbox.Processor {
		p := outbox.Handle("pay", note)
		change(p)
		return p
	}
	wants := func(err error, field, says string) {
		t.Helper()
		var e *nexus.Error
		if !errors.As(err, &e) || !errors.Is(err, nexus.ErrInvalid) || e.Field != field || !strings.Contains(e.Message, says) {
			t.Errorf("%v, want %s: %s", err, field, says)
		}
	}
	for _, c := range []struct {
		add         []node.Service
		field, says string
	}{
		{[]node.Service{outbox.Handle("pay", note), outbox.Handle("other", note), outbox.HandleLeased("pay", func(context.Context, *outbox.Item) error { return nil })}, "Add", "outbox queue pay"},
		{[]node.Service{outbox.Handle("pay", nil)}, "Add", "a handler"},
		{[]node.Service{outbox.Handle("", note)}, "Add", "a queue"},
		{[]node.Service{with(func(p *outbox.Processor) { p.Lease = time.Millisecond })}, "Processor.Lease", "pay is 1ms"},
		{[]node.Service{with(func(p *outbox.Processor) { p.Lease = 13 * time.Hour })}, "Processor.Lease", "pay is 13h"},
		{[]node.Service{with(func(p *outbox.Processor) { p.Batch = -1 })}, "Processor.Batch", "pay is -1"},
	} {
		for _, run := range []func(n *node.Node) error{
			func(n *node.Node) error { return n.Run(t.Context()) },
			func(n *node.Node) error { _, err := n.Work(t.Context(), 10); return err },
		} {
			n := node.New(db.Pool, node.Config{Namespace: ns, Logger: slog.New(slog.DiscardHandler)})
			n.Add(c.add...)
			wants(run(n), c.field, c.says)
		}
	}
	n := node.New(db.Pool, node.Config{Namespace: ns, Logger: slog.New(slog.DiscardHandler)})
	n.Add(outbox.Handle("pay", note))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	db.Wait("select exists (select from core.nodes where state = 'active')")
	n.Add(outbox.Handle("pay", note))
	wants(n.Apply(ctx), "Add", "outbox queue pay")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// holds: LN6
// Messages that are handled one by one share a transaction while they are quick. Slow ones do not use up each other's time, and nothing is done twice.
func TestSlowMessagesHaveTheirOwnTime(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 1, nil)
	enqueue(t, db, "pay", numbers(30)...)
	calls := 0
	p := outbox.Handle("pay", func(ctx context.Context, tx pgx.Tx, m *outbox.Item) error {
		calls++
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
		return note(ctx, tx, m)
	})
	p.Timeout = 2 * time.Second
	n := node.New(db.Pool, node.Config{Namespace: ns, Logger: slog.New(slog.DiscardHandler)})
	n.Add(p)
	if did, err := n.Work(t.Context(), 100); did != 30 || err != nil || calls != 30 {
		t.Error(did, err, calls, "calls")
	}
	if got, want := dbtest.Get[string](db, inOrder), strings.Join(numbers(30), " "); got != want {
		t.Error(got)
	}
	if n := dbtest.Get[int](db, "select count(distinct xmin::text)::int from public.effect"); n < 2 {
		t.Error("all of it in one transaction")
	}
}

// holds: LN6
// A handler that commits the node's transaction by a statement, and begins another one, has done what the next attempt would do again: it's a dead letter at once.
func TestAHandlerThatCommits(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 1, nil)
	for i, statement := range []string{"commit", "commit; begin"} {
		enqueue(t, db, "pay", fmt.Sprint(i))
		n := node.New(db.Pool, node.Config{Namespace: ns, Logger: slog.New(slog.DiscardHandler)})
		n.Add(outbox.Handle("pay", func(ctx context.Context, tx pgx.Tx, m *outbox.Item) error {
			if err := note(ctx, tx, m); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, statement)
			return err
		}))
		if _, err := n.Work(t.Context(), 10); err != nil {
			t.Error(err)
		}
		if got, want := dbtest.Get[string](db, "select string_agg(format('%s %s %s', lane_seq, reason, attempts), ', ' order by lane_seq) from core.dead_letters"),
			[]string{"1 transaction ended 1", "1 transaction ended 1, 2 transaction ended 1"}[i]; got != want {
			t.Errorf("%s: %s", statement, got)
		}
	}
	if got := dbtest.Get[string](db, inOrder); got != "0 1" {
		t.Error(got)
	}
}
