package node_test

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
)

// core.drain_node is obeyed at once, not with the next heartbeat half a minute later, and as SIGTERM is: what runs may finish.
// holds: N4-operator
func TestAnOperatorDrainsANode(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, ID: "drained"})
	running, goOn := make(chan struct{}), make(chan struct{})
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		close(running)
		<-goOn
		return effect(ctx, tx, d, "finished")
	})
	done := make(chan error, 1)
	go func() { done <- n.Run(t.Context()) }()
	emit(t, db, "x", nil)
	<-running
	db.Wait("select count(*) > 0 from pg_stat_activity where application_name like 'nexus:%/drained listen' and state = 'idle' and query = 'listen nexus_wake'")
	asked := time.Now()
	// A stranger's notification alone does nothing.
	db.Exec("select pg_notify('nexus_wake', 'drain:' || md5('drained'))")
	if !dbtest.Get[bool](db, "select core.drain_node('drained', 'deploy')") {
		t.Fatal("it does not count as running")
	}
	db.Wait("select state = 'draining' from core.nodes where node_id = 'drained'")
	if took := time.Since(asked); took > 10*time.Second {
		t.Errorf("it was heard after %s", took)
	}
	close(goOn)
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("Run: %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the node does not end")
	}
	if note := dbtest.Get[string](db, "select note from public.effect"); note != "finished" {
		t.Errorf("the handler ended as %q", note)
	}
	if state := dbtest.Get[string](db, "select state from core.nodes where node_id = 'drained'"); state != "stopped" {
		t.Errorf("the node is %s", state)
	}
}

// A request made while nobody listens is seen when the node listens again, not with the next heartbeat.
// holds: N4-unheard
func TestADrainThatNobodyHeard(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, ID: "deaf"})
	n.OnLeased("x", func(context.Context, *nexus.Delivery) error { return nil })
	done := make(chan error, 1)
	go func() { done <- n.Run(t.Context()) }()
	const listening = " from pg_stat_activity where application_name like 'nexus:%/deaf listen' and state = 'idle' and query = 'listen nexus_wake'"
	db.Wait("select count(*) = 1" + listening)
	db.Exec(`do $$ begin
		perform pg_terminate_backend(pid, 10000)` + listening + `;
		perform core.drain_node('deaf', 'deploy');
	end $$`)
	asked := time.Now()
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
	if took := time.Since(asked); took > 15*time.Second {
		t.Errorf("it was heard after %s", took)
	}
}

// Anyone may notify; what counts is what the heartbeat hears.
func TestAStrangersNotificationDrainsNobody(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, ID: "calm"})
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
	start(t, n)
	db.Wait("select count(*) > 0 from pg_stat_activity where application_name like 'nexus:%/calm listen' and state = 'idle' and query = 'listen nexus_wake'")
	before := dbtest.Get[time.Time](db, "select last_heartbeat from core.nodes where node_id = 'calm'")
	db.Exec("select pg_notify('nexus_wake', 'drain:' || md5('calm'))")
	db.Wait("select last_heartbeat > $1 from core.nodes where node_id = 'calm'", before)
	emit(t, db, "x", nil)
	db.Wait("select count(*) = 1 from public.effect")
	if age := dbtest.Get[float64](db, "select (metadata ->> 'fetch_age_seconds')::float8 from core.nodes where node_id = 'calm'"); age < 0 || age > 60 {
		t.Errorf("the heartbeat says that the last fetch was %v s ago", age)
	}
}

// A process that was killed may come back under its id at once: its session is gone. While that is there, it is a twin.
// holds: N1-killed
func TestAKilledNodeComesBackUnderItsID(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	before, err := pgx.Connect(t.Context(), db.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close(context.Background())
	if _, err := before.Exec(t.Context(), "select core_node.register_node($1, 'fixed', true, '{x}', jsonb_build_object('host', $2::text))", string(ns), host); err != nil {
		t.Fatal(err)
	}
	again := func() *node.Node {
		n := node.New(db.Pool, node.Config{Namespace: ns, ID: "fixed"})
		n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
		return n
	}
	err = again().Run(t.Context())
	if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code != nexus.CodeNodeAlive || e.Hint == "" {
		t.Fatalf("while it lives: %v", err)
	}
	pid := before.PgConn().PID()
	if err := before.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	db.Wait("select not exists (select from pg_stat_activity where pid = $1)", pid)
	start(t, again())
	emit(t, db, "x", nil)
	db.Wait("select count(*) = 1 from public.effect")
}

// A process that is stopped while the network stands still says no goodbye that arrives, and its session stays. Another one that starts
// on the same machine sees that it is gone.
// holds: N1-gone
func TestAStoppedProcessComesBackAfterAStall(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc here")
	}
	t.Parallel()
	db := newDB(t)
	proxy := db.Proxy()
	cmd := spawnAt(t, proxy.URL, "given")
	db.Wait("select exists (select from core.nodes where node_id = 'fixed' and state = 'active')")
	again := func() *node.Node {
		n := node.New(db.Pool, node.Config{Namespace: ns, ID: "fixed"})
		n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
		return n
	}
	if err := again().Run(t.Context()); !errors.Is(err, nexus.ErrConflict) {
		t.Fatalf("while it lives: %v", err)
	}
	proxy.Stall(true)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the process that was stopped: %v", err)
	}
	if !dbtest.Get[bool](db, "select exists (select from core.nodes n join pg_stat_activity a on a.pid = n.session_pid where n.node_id = 'fixed' and n.state = 'active')") {
		t.Fatal("its session is gone, or its goodbye arrived: this tests nothing")
	}
	start(t, again())
	emit(t, db, "x", nil)
	db.Wait("select count(*) = 1 from public.effect")
}
