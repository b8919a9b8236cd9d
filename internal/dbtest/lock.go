package dbtest

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// HoldLock takes the advisory lock (a, b) in a session of its own, so that what asks for it waits: until release is called, or the test ends.
func (db *DB) HoldLock(a, b int32) (release func()) {
	db.t.Helper()
	holder, err := pgx.Connect(db.t.Context(), db.OwnerURL)
	if err != nil {
		db.t.Fatal(err)
	}
	db.t.Cleanup(func() { _ = holder.Close(context.Background()) })
	does := func(sql string) {
		db.t.Helper()
		if _, err := holder.Exec(db.t.Context(), sql, a, b); err != nil {
			db.t.Fatalf("%s: %v", sql, err)
		}
	}
	does(`select pg_advisory_lock($1, $2)`)
	return func() { db.t.Helper(); does(`select pg_advisory_unlock($1, $2)`) }
}
