package outbox_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
)

// childLease is that of processes that are killed: as short as it may be.
const childLease = time.Second

// child is a node that works queue pay until it is killed. A message that says so kills it.
func child(url, mode string) error {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	p := outbox.Handle("pay", func(ctx context.Context, tx pgx.Tx, m *outbox.Item) error {
		if string(m.Body) == "deadly" {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		if err := note(ctx, tx, m); err != nil || mode != "long" {
			return err
		}
		_, err := tx.Exec(ctx, "lock table public.gate in share mode")
		return err
	})
	lease := childLease
	if mode == "long" {
		lease = 12 * time.Hour
	}
	if mode == "leased" {
		p = outbox.HandleLeased("pay", func(ctx context.Context, m *outbox.Item) error {
			return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return note(ctx, tx, m) })
		})
	}
	n := node.New(pool, node.Config{Namespace: ns, Lease: lease, Poll: 20 * time.Millisecond})
	n.Add(p)
	return n.Run(ctx)
}

// process is a child that is started again when it has died.
type process struct {
	db   *dbtest.DB
	mode string

	mu     sync.Mutex
	cmd    *exec.Cmd
	over   bool
	deaths int
	ended  chan struct{}
}

func spawn(t *testing.T, db *dbtest.DB, mode string) *process {
	t.Helper()
	p := &process{db: db, mode: mode, ended: make(chan struct{})}
	if err := p.begin(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		for {
			_ = p.cmd.Wait()
			p.mu.Lock()
			if p.over {
				p.mu.Unlock()
				return
			}
			p.deaths++
			err := p.begin()
			p.mu.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
		}
	}()
	t.Cleanup(func() {
		p.mu.Lock()
		p.over = true
		_ = p.cmd.Process.Kill()
		p.mu.Unlock()
		<-p.ended
	})
	return p
}

func (p *process) begin() error {
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), envChildURL+"="+p.db.URL, envChildMode+"="+p.mode)
	if os.Getenv("NEXUS_TEST_LOG") != "" {
		p.cmd.Stderr = os.Stderr
	}
	return p.cmd.Start()
}

func (p *process) signal(s os.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.cmd.Process.Signal(s)
}

func (p *process) died() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.deaths
}

// holds: LN2 (kill -9, frozen processes), LN5 (killed, frozen), LN8 (beside traffic)
// Processors are killed and frozen until their leases are over, beside producers that commit late and roll back, and while partitions are dropped.
// What their handlers wrote down is what producers committed, in order. In transactions it is there once; without it may be there twice.
func TestKilledAndFrozen(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"transactional", "leased"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			transactions, partition := 25, 200
			if os.Getenv("NEXUS_TEST_LONG") != "" {
				transactions, partition = 5000, 5000 // 25,000 messages a producer
			}
			smallPartitions(db, partition)
			register(t, db, "pay", 4, &outbox.QueueOptions{Retry: nexus.RetryPolicy{MaxAttempts: -1, Base: time.Millisecond, Max: 5 * time.Millisecond}})
			var processes []*process
			for range 3 {
				processes = append(processes, spawn(t, db, mode))
			}
			db.Wait("select count(*) = 3 from core.node_status where state = 'active'")
			var hand sync.Mutex
			kills, freezes, dropped := 0, 0, 0
			harm := func() {
				if !hand.TryLock() {
					return
				}
				defer hand.Unlock()
				p := processes[rand.IntN(len(processes))]
				if kills <= freezes {
					kills++
					p.signal(syscall.SIGKILL)
					return
				}
				freezes++
				frozen := db.Now()
				p.signal(syscall.SIGSTOP)
				db.Wait("select core.now() > $1", frozen.Add(childLease*5/4))
				p.signal(syscall.SIGCONT)
			}
			var wants [8][]string
			others := newTurns(len(wants) / 2)
			var producing sync.WaitGroup
			for p := range wants {
				producing.Go(func() { wants[p] = produce(t, db, db.Pool, p, transactions, false, others, harm) })
			}
			produced := make(chan struct{})
			go func() { producing.Wait(); close(produced) }()
			for tick := time.NewTicker(20 * time.Millisecond); ; <-tick.C {
				dropped += dbtest.Get[int](db, "select jsonb_array_length(core_private.maintain_lanes() -> 'dropped')")
				if isClosed(produced) {
					tick.Stop()
					break
				}
			}
			total := 0
			for _, want := range wants {
				total += len(want)
			}
			const ended = "(select sum(sequence)::int from core.outbox_partitions)"
			for done := -1; done != total; { // as long as it goes on
				db.Wait("select "+ended+" <> $1", done)
				done = dbtest.Get[int](db, "select "+ended)
			}
			inTheirOrder(t, db, wants[:])
			if n := dbtest.Get[int](db, "select count(distinct body)::int from public.effect"); n != total {
				t.Errorf("%d of %d were handled", n, total)
			}
			if n := dbtest.Get[int](db, "select count(*)::int from public.effect"); mode == "transactional" && n != total {
				t.Errorf("%d effects of %d messages", n, total)
			}
			db.Wait("select core_private.maintain_lanes() is not null and not exists (select from core_private.lane_partitions where upper <= (select last_value from core_private.lane_message_id_seq))")
			deaths := 0
			for _, p := range processes {
				deaths += p.died()
			}
			if deaths < kills || kills < 2 || freezes < 1 {
				t.Errorf("%d kills, %d deaths, %d freezes: the harness did not do it", kills, deaths, freezes)
			}
			t.Logf("%d messages, %d kills, %d freezes, %d partitions dropped beside", total, kills, freezes, dropped)
		})
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// holds: LN7 (kill -9)
// A message that kills its process is found in few deaths, and is a dead letter then; all others are handled once, in their order.
// holds: others-killers (lanes)
func TestAMessageThatKills(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 1, &outbox.QueueOptions{Retry: nexus.RetryPolicy{MaxAttempts: 2, Base: time.Millisecond, Max: time.Millisecond}})
	bodies := numbers(50)
	bodies[36] = "deadly"
	enqueue(t, db, "pay", bodies...)
	p := spawn(t, db, "transactional")
	db.Wait("select seq = 50 from core.lane_status")
	if got, want := dbtest.Get[string](db, inOrder), strings.ReplaceAll(strings.Join(bodies, " "), " deadly", ""); got != want {
		t.Errorf("got %s", got)
	}
	if diff := cmp.Diff("37 2 lease ended", dbtest.Get[string](db, "select lane_seq || ' ' || attempts || ' ' || reason from core.dead_letters")); diff != "" {
		t.Error(diff)
	}
	if n := p.died(); n > 10 {
		t.Errorf("it killed %d processes", n)
	}
}

// A process is killed, and another one frozen, while it has a lane whose lease is long. Its messages wait until it counts as lost, and no longer. The frozen
// one goes on after that, and what it wrote is undone.
// holds: LN5 (processes that are gone)
func TestLanesOfDeadProcesses(t *testing.T) {
	t.Parallel()
	for _, end := range []os.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
		t.Run(end.String(), func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			db.Exec("create table public.gate (); grant all on public.gate to public")
			register(t, db, "pay", 1, &outbox.QueueOptions{Retry: nexus.RetryPolicy{MaxAttempts: 5, Base: time.Millisecond, Max: time.Millisecond}})
			gate, err := db.Owner.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = gate.Rollback(context.WithoutCancel(t.Context())) }()
			if _, err := gate.Exec(t.Context(), "lock table public.gate in access exclusive mode"); err != nil {
				t.Fatal(err)
			}
			p := &process{db: db, mode: "long"}
			if err := p.begin(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
			enqueue(t, db, "pay", "1")
			db.Wait("select locked_until > core.now() + interval '11 hours' from core.lane_status")
			db.Wait("select exists (select from pg_locks where not granted and relation = 'public.gate'::regclass)")
			p.signal(end)
			db.Exec("update nexus_test.clock set shift = '91 s'")
			db.Exec("select core_node.reap_nodes()")
			start(t, db, node.Config{Poll: 20 * time.Millisecond}, outbox.Handle("pay", note))
			db.Wait("select seq = 1 from core.lane_status")
			if err := gate.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			if end == syscall.SIGSTOP {
				p.signal(syscall.SIGCONT)
			}
			db.Wait("select not exists (select from pg_locks where relation = 'public.gate'::regclass)") // it has it until its transaction ends
			if got := dbtest.Get[string](db, "select string_agg(seq || ' ' || body || ' ' || attempt, ', ') from public.effect"); got != "1 1 2" {
				t.Errorf("got %s", got)
			}
		})
	}
}

// holds: LN7 (retries of a head)
// A head that is retried again and again gets no dearer by that, and goes on when it is mended.
func TestRetriesOfAHead(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 1, &outbox.QueueOptions{Retry: nexus.RetryPolicy{MaxAttempts: -1}})
	enqueue(t, db, "pay", "1", "2")
	retries := 200
	if os.Getenv("NEXUS_TEST_LONG") != "" {
		retries = 40_000
	}
	part := retries / 10
	retry := func() time.Duration {
		t.Helper()
		began := time.Now()
		if _, err := db.Owner.Exec(t.Context(), strings.NewReplacer("$part", dbtest.Get[string](db, "select $1::int::text", part)).Replace(`do $do$
			declare
				v_lane int := (select lane_id from core.outbox_status s join core.lane_status l using (namespace, queue) where s.queue = 'pay');
				v_token uuid;
				v_from bigint;
			begin
				commit;
				for i in 1 .. $part loop
					select f.token, f.seq - 1 into v_token, v_from from core_node.fetch_lane(v_lane, 'n', 50, '10 s') f limit 1;
					commit;
					perform core_node.settle_lane(v_lane, 'n', v_token, v_from, 0, null, 'retry', 'error', 'no', '0');
					commit;
				end loop;
			end $do$`), pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
		return time.Since(began)
	}
	// Pages that one attempt reads: its fetch is the first of its transaction.
	looks := 0
	pages := func() (n int) {
		t.Helper()
		looks++
		raw := dbtest.Get[string](db, "explain (analyze, buffers, format json) select core_node.fetch_lane((select lane_id from core.lane_status), 'n', 50, '10 s')", pgx.QueryExecModeSimpleProtocol)
		var plans []struct {
			Plan struct {
				Hit  int `json:"Shared Hit Blocks"`
				Read int `json:"Shared Read Blocks"`
			}
		}
		if err := json.Unmarshal([]byte(raw), &plans); err != nil {
			t.Fatal(err)
		}
		db.Exec(`select core_node.settle_lane(l.lane_id, 'n', l.token, l.seq, 0, null, 'retry', 'error', 'no', '0')
			from core.lane_status s cross join core_private.lane_now(s.lane_id) l`)
		return plans[0].Plan.Hit + plans[0].Plan.Read
	}
	retry() // plans
	pages()
	few := pages()
	size := "select pg_total_relation_size('core_private.lanes')"
	first := retry()
	var last time.Duration
	for range 8 {
		last = retry()
	}
	t.Logf("%d retries: %d pages, %s each at first, %s at last, lanes have %d bytes", retries, few, first/time.Duration(part), last/time.Duration(part), dbtest.Get[int64](db, size))
	if many := pages(); many > few+20 {
		t.Errorf("an attempt reads %d pages, and read %d before", many, few)
	}
	if got := dbtest.Get[int](db, "select attempts from core.lane_status"); got != retries+looks {
		t.Errorf("%d attempts after %d", got, retries+looks)
	}
	if n := dbtest.Get[int64](db, size); n > 8<<20 {
		t.Errorf("the lane has grown to %d bytes", n)
	}
	start(t, db, node.Config{Poll: 20 * time.Millisecond}, outbox.Handle("pay", note))
	db.Wait("select seq = 2 from core.lane_status")
}
