package dbtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Example is a database for an Example function, which has no testing.TB: with the namespaces, for a login that may do all that Nexus
// lets one do and may create tables. done drops it.
func Example(namespaces ...string) (pool *pgxpool.Pool, done func()) {
	t := &exampleTB{ctx: context.Background()}
	db := New(t)
	for _, name := range namespaces {
		db.Namespace(name)
	}
	pool, err := pgxpool.New(t.ctx, db.Keep())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool, t.end
}

// ExampleOwner is [Example] for a superuser.
func ExampleOwner() (pool *pgxpool.Pool, done func()) {
	t := &exampleTB{ctx: context.Background()}
	return New(t).Owner, t.end
}

// ExampleTB runs f as a test would be, for examples of tests.
func ExampleTB(f func(t testing.TB)) {
	t := &exampleTB{ctx: context.Background()}
	defer t.end()
	f(t)
}

// exampleTB is the part of a testing.TB that this package and nexustest need. What would fail a test panics, and so fails the example.
type exampleTB struct {
	testing.TB // nil: the rest is not there

	ctx      context.Context
	cleanups []func()
}

func (t *exampleTB) Helper()                           {}
func (t *exampleTB) Context() context.Context          { return t.ctx }
func (t *exampleTB) Cleanup(f func())                  { t.cleanups = append(t.cleanups, f) }
func (t *exampleTB) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (t *exampleTB) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (t *exampleTB) Errorf(format string, args ...any) { t.Fatalf(format, args...) }
func (t *exampleTB) Error(args ...any)                 { t.Fatal(args...) }

func (t *exampleTB) end() {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
}
