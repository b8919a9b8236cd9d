package webhook_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/webhook"
)

// The test binary runs itself again as a node process that can be killed.
const envChildURL = "NEXUS_TEST_CHILD_URL"

func TestMain(m *testing.M) {
	if url := os.Getenv(envChildURL); url != "" {
		if err := child(context.Background(), url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	dbtest.Main(m)
}

func child(ctx context.Context, url string) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	n := node.New(pool, node.Config{Namespace: "shop", Lease: 2 * time.Second, Poll: 50 * time.Millisecond})
	n.Add(&webhook.Sender{Allow: local, Look: 50 * time.Millisecond})
	return n.Run(ctx)
}
