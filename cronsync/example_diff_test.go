package cronsync_test

import (
	"context"
	"fmt"

	"github.com/nexuspg/nexus/cronsync"
	"github.com/nexuspg/nexus/internal/dbtest"
)

// Who changed pg_cron's jobs by hand sees here what a sweep will mend within the minute, and Apply at once. Without pg_cron there is nothing to mend.
func ExampleDiff() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()

	drift, err := cronsync.Diff(ctx, pool)
	if err != nil {
		panic(err)
	}
	for _, d := range drift {
		if d.Kind == cronsync.Missing || d.Kind == cronsync.Altered {
			fmt.Println(d.Kind, d.JobName, d.Detail)
		}
	}
	// Output:
}
