package cli

import (
	"bytes"
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// onHandlers is a shell of a login that owns the function app.on_event, which notes payloads and rejects those that are false.
func onHandlers(t *testing.T) (*dbtest.DB, *shell) {
	t.Helper()
	db, s := onDatabase(t)
	db.Namespace("shop")
	s.cfg.Namespace = "shop"
	login, url := db.As("nexus_consumer", "nexus_reader")
	s.cfg.DatabaseURL = url
	db.Exec("create schema app authorization " + login)
	t.Cleanup(func() { _, _ = db.Owner.Exec(context.Background(), "drop schema app cascade") })
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `create table app.notes (said text);
		create function app.on_event(p_event jsonb) returns void language plpgsql security definer set search_path = app, pg_temp as $handler$ begin
			insert into notes values (p_event ->> 'payload'); if p_event ->> 'payload' = 'false' then perform core.reject_event('no'); end if; end $handler$;
		revoke execute on function app.on_event(jsonb) from public;
		grant usage on schema app to nexus_guard`, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	return db, s
}

// holds: H4
func TestHandlerVerbs(t *testing.T) {
	t.Parallel()
	db, s := onHandlers(t)
	s.fails(exitUsage, []string{"nexus_guard may not execute", "grant execute on function app.on_event(jsonb) to nexus_guard", "FUNCTION"}, "handler", "subscribe", "a.*", "app.on_event(jsonb)")
	db.Exec("grant execute on function app.on_event(jsonb) to nexus_guard")
	type made struct{ Consumer, State string }
	for range 2 {
		got := okJSON[made](s, "handler", "subscribe", "a.*", "app.on_event(jsonb)", "--timeout", "5s", "--max-in-flight", "4", "--max-attempts", "3", "--from", "beginning")
		if d := cmp.Diff(made{"on_event", "subscribed"}, got); d != "" {
			t.Error(d)
		}
	}
	s.fails(exitFailed, []string{"NX214"}, "handler", "subscribe", "a.*", "app.on_event(jsonb)", "--timeout", "6s")
	type row struct{ Consumer, Function, State, Trouble, Mend string }
	db.Exec("revoke execute on function app.on_event(jsonb) from nexus_guard")
	want := row{"on_event", "app.on_event(jsonb)", "active", "nexus_guard may not execute the function app.on_event(jsonb)", "grant execute on function app.on_event(jsonb) to nexus_guard;"}
	if d := cmp.Diff([]row{want}, okJSON[[]row](s, "handler", "list")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, okJSON[row](s, "handler", "show", "on_event")); d != "" {
		t.Error(d)
	}
	s.fails(exitNotFound, []string{`no handler in SQL of consumer "default"`}, "handler", "show", "default")
	for _, state := range []string{"unsubscribed", "had no handler in SQL"} {
		if d := cmp.Diff(made{"on_event", state}, okJSON[made](s, "handler", "unsubscribe", "on_event")); d != "" {
			t.Error(d)
		}
	}
}

// holds: H4
func TestWork(t *testing.T) {
	t.Parallel()
	db, s := onHandlers(t)
	db.Exec("grant execute on function app.on_event(jsonb) to nexus_guard")
	s.ok("handler", "subscribe", "*", "app.on_event(jsonb)")
	db.Exec(`select core.emit('shop', 'a', to_jsonb(n <> 1)) from generate_series(1, 5) n`)
	type did struct{ Handled, Retried, Buried, Released int }
	if got := okJSON[did](s, "work", "--limit", "3"); got != (did{Handled: 2, Buried: 1}) {
		t.Errorf("three: %+v", got)
	}
	if got := okJSON[did](s, "work"); got != (did{Handled: 2}) {
		t.Errorf("the rest: %+v", got)
	}
	s.fails(exitUsage, []string{"--limit is -1"}, "work", "--limit", "-1")
	s.fails(exitUsage, []string{"give one of them"}, "work", "--loop", "--limit", "1")
	s.fails(exitUsage, []string{"10ms and more"}, "work", "--poll", "1ms")

	// A loop goes on until it is told to end, and says then what it did.
	ctx, stop := context.WithCancel(t.Context())
	var out, errs bytes.Buffer
	env := s.env
	env.Stdout, env.Stderr, env.Config = &out, &errs, s.config()
	ended := make(chan int, 1)
	go func() { ended <- Main(ctx, env, []string{"work", "--loop", "--poll", "20ms"}) }()
	for range 2 {
		db.Exec(`select core.emit('shop', 'a', 'true')`)
		db.Wait(`select not exists (select from pgmq.q_core_events_shop__on_event)`)
	}
	stop()
	if code := <-ended; code != exitOK || !bytes.Contains(out.Bytes(), []byte("handled")) || !bytes.Contains(out.Bytes(), []byte("2")) {
		t.Errorf("ended with %d: %s%s", code, &out, &errs)
	}
}
