package node_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/kv"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/trigger"
	"github.com/nexuspg/nexus/workflow"
)

// pgbouncer starts one in transaction mode before the test's database and returns the URL through it.
func pgbouncer(t *testing.T, db *dbtest.DB) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("there is no pgbouncer on the PATH")
	}
	u, err := url.Parse(db.URL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "nexus-pgbouncer-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	password, _ := u.User.Password()
	files := map[string]string{
		"users.txt": fmt.Sprintf("%q %q\n", u.User.Username(), password),
		"pgbouncer.ini": fmt.Sprintf(`[databases]
* = host=%s port=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = plain
auth_file = %s
pool_mode = transaction
default_pool_size = 5
max_client_conn = 200
ignore_startup_parameters = search_path
`, u.Hostname(), u.Port(), port, filepath.Join(dir, "users.txt")),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, filepath.Join(dir, "pgbouncer.ini"))
	if os.Getuid() == 0 {
		// Like Postgres it refuses to run as root.
		nobody, err := user.Lookup("nobody")
		if err != nil {
			t.Skip("pgbouncer refuses root, and there is no account nobody")
		}
		uid, _ := strconv.ParseUint(nobody.Uid, 10, 32)
		gid, _ := strconv.ParseUint(nobody.Gid, 10, 32)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var log buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("pgbouncer:\n%s", log.String())
		}
	})
	u.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	again(t, "connect through pgbouncer", func() error {
		conn, err := pgx.Connect(t.Context(), u.String())
		if err == nil {
			err = conn.Close(context.Background())
		}
		return err
	})
	return u.String()
}

// A pooler in transaction mode hands each transaction another session. In each of pgx's modes that does not count on prepared
// statements that stay, events are emitted, handled, retried and delayed, and all else that a node does is done; wake-ups come over a direct
// connection.
// holds: N6, others-pooler, others-payloads (there and back)
func TestThroughATransactionPooler(t *testing.T) {
	db := newDB(t)
	through := pgbouncer(t, db)
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		t.Run(mode.String(), func(t *testing.T) {
			cfg, err := pgxpool.ParseConfig(through)
			if err != nil {
				t.Fatal(err)
			}
			cfg.MaxConns = 20 // more than the pooler has sessions
			cfg.ConnConfig.DefaultQueryExecMode = mode
			pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			db.Exec("truncate public.effect")
			n := node.New(pool, node.Config{Namespace: ns, Retry: quick, WakeURL: db.URL, Poll: 10 * time.Second})
			n.On("order.*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				if d.Attempt == 1 && d.Type == "order.flaky" {
					return nexus.Retry(10 * time.Millisecond)
				}
				return effect(ctx, tx, d, "")
			})
			n.OnLeased("call", func(ctx context.Context, d *nexus.Delivery) error {
				return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
					if err := effect(ctx, tx, d, ""); err != nil {
						return err
					}
					return queue.Ack(ctx, tx, d)
				})
			})
			other := everythingElse(t, db, n, pool, strings.ReplaceAll(mode.String(), " ", "-"))
			stop := start(t, n)
			other()
			bus := queue.Emitter{Namespace: ns}
			const each = 100
			batch := make([]queue.Emission, each)
			for i := range batch {
				batch[i] = queue.Emission{Type: []string{"order.placed", "order.flaky", "call"}[i%3]}
			}
			if _, err := bus.EmitBatch(t.Context(), pool, batch); err != nil {
				t.Fatal(err)
			}
			for i := range each {
				opts := &queue.EmitOptions{DedupeKey: fmt.Sprintf("%s %d", mode, i), Tags: []string{"a"}}
				if i%10 == 0 {
					opts.Delay = 20 * time.Millisecond
				}
				if _, err := bus.Emit(t.Context(), pool, "order.placed", map[string]int{"i": i}, opts); err != nil {
					t.Fatal(err)
				}
			}
			db.Wait(`select count(*) = $1 from public.effect`, 2*each)
			db.Wait(queueEmpty)
			if n := dbtest.Get[int](db, `select count(distinct event_uid)::int from public.effect`); n != 2*each {
				t.Errorf("%d events have effects, want %d", n, 2*each)
			}
			if locks := dbtest.Get[int](db, `select count(*)::int from pg_locks l join pg_stat_activity a using (pid)
				where l.locktype = 'advisory' and a.state = 'idle' and a.datname = current_database()`); locks != 0 {
				t.Errorf("%d advisory locks are held between transactions", locks)
			}
			stop()
			if state := dbtest.Get[string](db, `select state from core.nodes order by last_heartbeat desc limit 1`); state != "stopped" {
				t.Errorf("the node is %s", state)
			}
		})
	}
}

// everythingElse adds a processor, a workflow and handlers of triggers and requests to a node. once has each do one thing, by way of pool.
func everythingElse(t *testing.T, db *dbtest.DB, n *node.Node, pool *pgxpool.Pool, name string) (once func()) {
	t.Helper()
	const sent = `{"n": 9007199254740993, "s": "\\x00 é ' \"\\u0001"}`
	came := make(chan string, 10)
	come := func(what string, body []byte) error {
		read := func(text []byte) (v any) {
			d := json.NewDecoder(bytes.NewReader(text))
			d.UseNumber()
			if err := d.Decode(&v); err != nil {
				return err
			}
			return v
		}
		if diff := cmp.Diff(read([]byte(sent)), read(body)); diff != "" {
			what += ", otherwise: " + diff
		}
		came <- what
		return nil
	}
	if _, err := outbox.RegisterQueue(t.Context(), pool, ns, name, 2, nil); err != nil {
		t.Fatal(err)
	}
	n.Add(outbox.Handle(name, func(_ context.Context, _ pgx.Tx, m *outbox.Item) error { return come("message", m.Body) }))
	w := workflow.New[json.RawMessage, json.RawMessage](name)
	workflow.TxStep(w, "tx", func(_ context.Context, _ pgx.Tx, r *workflow.Run[json.RawMessage]) (int, error) {
		return 1, come("step", r.Input)
	})
	signal := workflow.WaitForSignal[json.RawMessage](w, "signal", 0)
	workflow.Step(w, "step", func(_ context.Context, r *workflow.Run[json.RawMessage]) (int, error) {
		return 1, come("signal", *signal.Result(r))
	})
	w.Returns(func(r *workflow.Run[json.RawMessage]) (json.RawMessage, error) { return r.Input, nil })
	n.Add(w)
	n.Triggers().On(name, func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error { return come("trigger", d.Payload) })
	n.OnLeased(name, func(context.Context, *nexus.Delivery) error { return nil })
	asked := nexus.EventType[json.RawMessage](name)
	node.OnRequest(n, asked, func(_ context.Context, d *nexus.DeliveryOf[json.RawMessage]) (json.RawMessage, error) {
		return d.Payload, nil
	})
	return func() {
		t.Helper()
		check := func(what string, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		ctx, payload := t.Context(), json.RawMessage(sent)
		answers(t, db, name)
		db.Wait(`select exists (select from core.workflow_definitions where workflow = $1)`, name)
		_, err := trigger.Create(ctx, pool, trigger.Trigger{Namespace: ns, Name: name, Event: &trigger.Event{Pattern: name}, Target: "go:" + name})
		check("trigger", err)
		_, err = queue.Emitter{Namespace: ns}.Emit(ctx, pool, name, payload, nil)
		check("emit", err)
		_, err = outbox.Enqueue(ctx, pool, ns, outbox.Message{Queue: name, Key: "k", Type: "t", Body: payload, DedupeKey: name})
		check("enqueue", err)
		run, _, err := w.Start(ctx, pool, ns, payload, &workflow.StartOptions{IdempotencyKey: name})
		check("start", err)
		_, err = workflow.Signal(ctx, pool, run, "signal", payload)
		check("signal", err)
		out, err := w.Await(ctx, pool, run)
		check("await", errors.Join(err, come("result", out)))
		reply, err := queue.Request[json.RawMessage](ctx, pool, queue.Emitter{Namespace: ns}, asked, payload)
		check("request", errors.Join(err, come("reply", reply)))
		keys := kv.Collection[json.RawMessage]{Namespace: ns, Name: "c"}
		_, err = keys.Set(ctx, pool, name, payload, nil)
		check("set", err)
		e, _, err := keys.Get(ctx, pool, name)
		check("get", errors.Join(err, come("key", e.Value)))
		var all []string
		for range 7 {
			all = append(all, <-came)
		}
		slices.Sort(all)
		if got := strings.Join(all, " "); got != "key message reply result signal step trigger" {
			t.Errorf("there came %s", got)
		}
	}
}

// A pooler has no sessions to listen in. Wake-ups need a connection beside it, and where there is none polling brings what they would have.
//
// holds: N6, others-pooler
func TestWakeUpsBesideAPooler(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		poll   time.Duration
		beside bool
	}{
		"by wake-ups": {time.Hour, true},
		"by polling":  {50 * time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			if c.beside {
				blindfold(db)
			}
			cfg, err := pgxpool.ParseConfig(pgbouncer(t, db))
			if err != nil {
				t.Fatal(err)
			}
			cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
			pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(pool.Close)
			to := node.Config{Namespace: ns, Poll: c.poll}
			if c.beside {
				to.WakeURL = db.URL
			}
			n := node.New(pool, to)
			n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
			start(t, n)
			for i := range 3 {
				db.Wait(wanted)
				if c.beside {
					db.Wait(`select count(*) = 1 from pg_stat_activity where datname = current_database() and application_name like '%listen' and query = 'listen nexus_wake'`)
				}
				emit(t, db, "x", nil)
				db.Wait(`select count(*) = $1 from public.effect`, i+1)
			}
		})
	}
}
