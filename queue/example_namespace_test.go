package queue_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/queue"
)

// A namespace is created once, where the schema is set up: it takes an administrator. Its options may change later.
func ExampleCreateNamespace() {
	ctx := context.Background()
	pool, done := dbtest.Example() // a database with Nexus in it
	defer done()

	opts := &queue.NamespaceOptions{Retry: nexus.RetryPolicy{MaxAttempts: 5, Base: time.Second, Max: time.Minute}}
	fmt.Println(queue.CreateNamespace(ctx, pool, "shop", opts))
	fmt.Println(queue.AlterNamespace(ctx, pool, "shop", &queue.NamespaceOptions{DedupeFor: 24 * time.Hour}))

	err := queue.DropNamespace(ctx, pool, "shop", "shpo", false) // the name again, as a confirmation
	e, _ := errors.AsType[*nexus.Error](err)
	fmt.Println(e.Code == nexus.CodeNotConfirmed)
	// Output:
	// <nil>
	// <nil>
	// true
}
