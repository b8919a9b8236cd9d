package kv_test

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/kv"
)

// A counter that many add to: whoever finds that another one was faster reads again.
func ExampleCollection_CAS() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()
	visits := kv.Collection[int]{Namespace: "shop", Name: "visits"}

	add := func(key string) error {
		for {
			e, _, err := visits.Get(ctx, pool, key) // of a key that is not there both value and version are 0
			if err != nil {
				return err
			}
			if r, err := visits.CAS(ctx, pool, key, e.Value+1, e.Version, nil); err != nil || r.Done {
				return err
			}
		}
	}
	for range 3 {
		if err := add("home"); err != nil {
			panic(err)
		}
	}
	e, _, err := visits.Get(ctx, pool, "home")
	fmt.Println(e.Value, err)
	// Output: 3 <nil>
}

// A lock that ends by itself if its holder dies: the first one has it, and renews it by its version.
func ExampleCollection_Set() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop")
	defer done()
	locks := kv.Collection[string]{Namespace: "shop", Name: "locks"}

	first, err := locks.Set(ctx, pool, "nightly", "host-1", &kv.SetOptions{IfAbsent: true, TTL: time.Minute})
	if err != nil {
		panic(err)
	}
	second, err := locks.Set(ctx, pool, "nightly", "host-2", &kv.SetOptions{IfAbsent: true, TTL: time.Minute})
	if err != nil {
		panic(err)
	}
	renewed, err := locks.CAS(ctx, pool, "nightly", "host-1", first.Version, &kv.CASOptions{TTL: time.Minute})
	if err != nil {
		panic(err)
	}
	freed, err := locks.Delete(ctx, pool, "nightly", &kv.DeleteOptions{Version: renewed.Version})
	fmt.Println(first.Done, second.Done, renewed.Done, freed.Done, err)
	// Output: true false true true <nil>
}

// On a transaction a key commits with all else: how far an import has come, with what it has read.
func ExampleCollection_Set_transaction() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop")
	defer done()
	cursors := kv.Collection[int64]{Namespace: "shop", Name: "cursors"}

	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		// … insert rows 1 to 500 with tx …
		_, err := cursors.Set(ctx, tx, "import/orders", 500, nil)
		return err
	})
	if err != nil {
		panic(err)
	}
	page, err := cursors.List(ctx, pool, &kv.ListOptions{Prefix: "import/"})
	for _, e := range page {
		fmt.Println(e.Key, e.Value)
	}
	fmt.Println(err)
	// Output:
	// import/orders 500
	// <nil>
}
