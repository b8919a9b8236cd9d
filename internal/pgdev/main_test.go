package pgdev

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// helperVariable makes the test binary play the parent that is killed, instead of running tests.
const helperVariable = "NEXUS_PGDEV_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(helperVariable) != "" {
		beParent()
	}
	goleak.VerifyTestMain(m)
}

// beParent starts a cluster, tells where it is and stays until it is killed.
func beParent() {
	c, err := Start(context.Background(), Options{Settings: TestSettings(), InMemory: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(c.server.pid(), c.Dir())
	select {}
}

// start runs a cluster for one test and stops it at its end.
func start(t *testing.T, o Options) *Cluster {
	t.Helper()
	if o.Settings == nil {
		o.Settings = TestSettings()
	}
	o.InMemory = true
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

// eventually waits until a condition outside this process holds; nothing there can notify us.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("after 30 s still not true: %s", what)
		}
	}
}
