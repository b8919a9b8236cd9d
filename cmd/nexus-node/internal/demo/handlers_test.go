package demo

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"
)

// The server need not answer for it: it is gone as well when the demo was killed.
func TestNodeEndsWithItsParent(t *testing.T) {
	t.Parallel()
	parent, hold := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		nowhere := "postgres://demo@127.0.0.1:1/nexus?sslmode=disable"
		ended <- serve(ctx, parent, nowhere, "node-a", slog.New(slog.DiscardHandler), honest)
	}()
	if err := hold.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		cancel()
		t.Fatalf("the node still runs, 30 s after its parent was gone (%v once it was told to stop)", <-ended)
	}
}
