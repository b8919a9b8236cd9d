package migrate_test

import (
	"context"
	"fmt"
	"os"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/migrate"
)

// A program that brings its own schema up to date brings that of Nexus along, at each deployment. It takes a superuser, or a role
// with CREATEROLE and CREATE on the database; nodes need neither.
func ExampleUp() {
	ctx := context.Background()
	pool, done := dbtest.ExampleOwner() // of somebody who may install
	defer done()

	report, err := migrate.Up(ctx, pool, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(report.Version == report.Want, len(report.Applied)) // it is up to date already
	// Output: true 0
}

// A program that finds another schema than its own had better not begin.
func ExampleCheck() {
	ctx := context.Background()
	pool, done := dbtest.Example() // a database with Nexus in it
	defer done()

	if err := migrate.Check(ctx, pool); err != nil { // errors.Is(err, nexus.ErrSchema): run migrate.Up first
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Println("it fits")
	// Output: it fits
}
