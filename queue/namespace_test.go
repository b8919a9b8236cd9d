package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/queue"
)

type settings struct {
	Metadata        string
	Retry           string
	UnhandledAfter  time.Duration
	MaxPayloadBytes int
	DedupeFor       time.Duration
	KeepBroadcasts  time.Duration
	Expire          time.Duration
	DefaultConsumer bool
	Restricted      bool
}

func stored(t *testing.T, db *dbtest.DB, namespace nexus.Namespace) settings {
	t.Helper()
	rows, err := db.Owner.Query(t.Context(), `select coalesce(metadata::text, ''), coalesce(retry::text, ''), unhandled_after, max_payload_bytes, dedupe_for,
		keep_broadcasts, coalesce(expire_unresolved, '0'), default_consumer, restricted from core.namespaces where namespace = $1`, string(namespace))
	if err != nil {
		t.Fatal(err)
	}
	s, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[settings])
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNamespaceOptionsArrive(t *testing.T) {
	db := dbtest.New(t)
	ctx := t.Context()
	opts := &queue.NamespaceOptions{
		Metadata: json.RawMessage(`{"team":"till"}`), Retry: nexus.RetryPolicy{MaxAttempts: -1, Base: time.Second, Jitter: -1},
		UnhandledAfter: 90 * time.Minute, MaxPayloadBytes: 4096, DedupeFor: time.Hour, KeepBroadcasts: 2 * time.Hour, ExpireUnresolved: 48 * time.Hour, DefaultConsumer: queue.On, Restricted: queue.On,
	}
	for _, want := range []bool{true, false} { // the second time it is there already
		if made, err := queue.EnsureNamespace(ctx, db.Owner, ns, opts); err != nil || made != want {
			t.Fatalf("made: %v, %v; want %v", made, err, want)
		}
	}
	want := settings{
		Metadata: `{"team": "till"}`, Retry: `{"base": "1.000000s", "jitter": 0, "max_attempts": -1}`, UnhandledAfter: 90 * time.Minute,
		MaxPayloadBytes: 4096, DedupeFor: time.Hour, KeepBroadcasts: 2 * time.Hour, Expire: 48 * time.Hour, DefaultConsumer: true, Restricted: true,
	}
	if diff := cmp.Diff(want, stored(t, db, ns)); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	if err := queue.CreateNamespace(ctx, db.Owner, ns, nil); err != nil {
		t.Errorf("no opinion about its options is refused: %v", err)
	}
	wantError(t, queue.CreateNamespace(ctx, db.Owner, ns, &queue.NamespaceOptions{DedupeFor: time.Minute}), nexus.ErrConflict, nexus.CodeNamespaceDiffers, "p_options")

	err := queue.AlterNamespace(ctx, db.Owner, ns, &queue.NamespaceOptions{DedupeFor: 2 * time.Hour, ExpireUnresolved: -1, Restricted: queue.Off})
	if err != nil {
		t.Fatal(err)
	}
	if err := queue.AlterNamespace(ctx, db.Owner, ns, &queue.NamespaceOptions{Retry: nexus.RetryPolicy{Base: 2 * time.Second}}); err != nil {
		t.Fatal(err)
	}
	want.DedupeFor, want.Expire, want.Restricted = 2*time.Hour, 0, false
	want.Retry = `{"base": "2.000000s", "jitter": 0, "max_attempts": -1}`
	if diff := cmp.Diff(want, stored(t, db, ns)); diff != "" {
		t.Errorf("altered (-want +got):\n%s", diff)
	}
}

func TestNamespaceRefusals(t *testing.T) {
	db := dbtest.New(t)
	ctx := t.Context()
	for name, test := range map[string]struct {
		got    error
		family error
		code   string
		field  string
	}{
		"its name":     {queue.CreateNamespace(ctx, db.Owner, "Shop", nil), nexus.ErrInvalid, nexus.CodeNamespaceName, "p_namespace"},
		"none of it":   {queue.AlterNamespace(ctx, db.Owner, "none", nil), nexus.ErrNotFound, nexus.CodeNoNamespace, "p_namespace"},
		"a switch":     {queue.CreateNamespace(ctx, db.Owner, "shop", &queue.NamespaceOptions{Restricted: "perhaps"}), nexus.ErrInvalid, nexus.CodeOptionValue, "restricted"},
		"its metadata": {queue.CreateNamespace(ctx, db.Owner, "shop", &queue.NamespaceOptions{Metadata: json.RawMessage(`[]`)}), nexus.ErrInvalid, nexus.CodeOptionValue, "metadata"},
		"metadata that is no JSON": {
			queue.CreateNamespace(ctx, unasked{t}, "shop", &queue.NamespaceOptions{Metadata: json.RawMessage(`[`)}),
			nexus.ErrInvalid, nexus.CodePayload, "metadata",
		},
	} {
		t.Run(name, func(t *testing.T) { wantError(t, test.got, test.family, test.code, test.field) })
	}
	if err := queue.CreateNamespace(ctx, db.Pool, "shop", nil); !errors.Is(err, nexus.ErrForbidden) {
		t.Errorf("an ordinary login creates namespaces: %v", err)
	}
	if err := queue.CreateNamespace(ctx, db.Owner, "shop", nil); err != nil {
		t.Fatal(err)
	}
	if made, err := queue.EnsureNamespace(ctx, db.Pool, "shop", nil); made || err != nil {
		t.Errorf("an ordinary login asks for one that is there: %v, %v", made, err)
	}
}

func TestDropNamespace(t *testing.T) {
	db := newDB(t)
	db.Namespace("other")
	ctx := t.Context()
	if _, err := bus.Emit(ctx, db.Pool, "x", nil, nil); err != nil {
		t.Fatal(err)
	}
	wantError(t, queue.DropNamespace(ctx, db.Owner, ns, "other", true), nexus.ErrConflict, nexus.CodeNotConfirmed, "p_confirm")
	wantError(t, queue.DropNamespace(ctx, db.Owner, ns, ns, false), nexus.ErrConflict, nexus.CodeNamespaceNotEmpty, "p_namespace")
	if err := queue.DropNamespace(ctx, db.Owner, ns, ns, true); err != nil {
		t.Fatal(err)
	}
	if left := dbtest.Get[string](db, "select string_agg(namespace, ',') from core.namespaces"); left != "other" {
		t.Errorf("left: %s", left)
	}
}

// Whoever emits to a namespace that is being dropped waits, is told to begin again, and then that there is none.
func TestEmitWhileItsNamespaceIsDropped(t *testing.T) {
	db := newDB(t)
	for _, opts := range []*queue.EmitOptions{nil, {Delay: time.Hour}} {
		db.Exec("select core.create_namespace($1) where not exists (select from core.namespaces)", string(ns))
		drop, err := db.Owner.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = drop.Rollback(context.Background()) })
		if err := queue.DropNamespace(t.Context(), drop, ns, ns, false); err != nil {
			t.Fatal(err)
		}
		emitted := make(chan error, 1)
		go func() {
			_, err := bus.Emit(t.Context(), db.Pool, "x", nil, opts)
			emitted <- err
		}()
		db.Wait("select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')")
		if err := drop.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-emitted; !errors.Is(err, nexus.ErrRestartTx) {
			t.Errorf("%v", err)
		}
		_, err = bus.Emit(t.Context(), db.Pool, "x", nil, opts)
		wantError(t, err, nexus.ErrNotFound, nexus.CodeNoNamespace, "p_namespace")
	}
}
