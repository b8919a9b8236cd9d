package migrate

import (
	"testing"
	"time"

	nexussql "github.com/nexuspg/nexus/sql"
)

// Nodes and pg_cron go on while a schema is brought up to date. Their locks come in another order, and it is the installer that can begin again.
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
		if f.Path == "functions/internal/after_install.sql" {
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
