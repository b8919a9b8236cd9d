package migrate

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	nexussql "github.com/nexuspg/nexus/sql"
)

// Nodes and pg_cron go on while a schema is brought up to date. Their locks come in another order, and it is the installer that can begin again.
// holds: I1-beside-nodes
func TestUpBeginsAgainAfterADeadlock(t *testing.T) {
	address := cluster.URL(newDatabase(t, cluster))
	pool, other := connect(t, address), connect(t, address)
	mustUp(t, pool, nil, sample())
	if _, err := pool.Exec(t.Context(), `create table public.one (); create table public.two (); grant all on public.one, public.two to public`); err != nil {
		t.Fatal(err)
	}
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	// The one whose patience ends first is the one that gives way.
	if _, err := tx.Exec(t.Context(), `set local deadlock_timeout = '10 min'; lock table public.two in access exclusive mode`); err != nil {
		t.Fatal(err)
	}
	want := sample()
	want.functions = append(want.functions[:0:0], want.functions...)
	for i, f := range want.functions {
		if f.Path == "functions/upkeep/after_install.sql" {
			want.functions[i] = nexussql.NewFile(f.Path, `
create or replace function core_private.after_install() returns void language plpgsql as $$
begin
  lock table public.one in access exclusive mode;
  lock table public.two in access exclusive mode;
end $$;`)
		}
	}
	done := make(chan error, 1)
	go func() {
		_, err := up(t.Context(), pool, nil, want)
		done <- err
	}()
	for !value[bool](t, other, `select exists (select from pg_locks where relation = 'public.two'::regclass and not granted)`) {
		select {
		case err := <-done:
			t.Fatalf("up did not wait for the table: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	if _, err := tx.Exec(t.Context(), `lock table public.one in access exclusive mode`); err != nil {
		t.Fatalf("the user of the tables had to give way: %v", err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// What a migration locks is locked before anything is held, so that who uses one of the tables and wants another is not in a circle with the
// installer. As long as one is missing the others are free.
// holds: I1-locks
func TestUpWaitsForTablesWithNothingHeld(t *testing.T) {
	address := cluster.URL(newDatabase(t, cluster))
	pool, other := connect(t, address), connect(t, address)
	want := sample()
	want.migrations = []nexussql.File{nexussql.NewFile("migrations/0001_create_namespaces.sql",
		`create table core.namespaces (namespace text primary key); create table core.second ();`)}
	mustUp(t, pool, nil, want)
	want.migrations = append(want.migrations, nexussql.NewFile("migrations/0002_add_color.sql",
		`alter table core.namespaces add column color text; alter table core.second add column color text;`))
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), `set local deadlock_timeout = '10 min'; lock table core.second in access share mode`); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	done := make(chan error, 1)
	go func() {
		_, err := up(t.Context(), pool, &Options{Logger: slog.New(slog.NewTextHandler(&said, nil))}, want)
		done <- err
	}()
	for !value[bool](t, other, `select exists (select from pg_locks where relation = 'core.second'::regclass and not granted)`) {
		select {
		case err := <-done:
			t.Fatalf("up did not wait for the table: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	if _, err := tx.Exec(t.Context(), `select from core.namespaces`); err != nil {
		t.Fatalf("the user of the tables had to give way: %v", err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if bytes.Contains(said.Bytes(), []byte("deadlock")) {
		t.Errorf("the installer had to begin again: %s", said.String())
	}
}
