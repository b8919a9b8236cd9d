// Command shop takes orders over HTTP, thanks for each by mail and reports them every night.
package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	"github.com/nexuspg/nexus"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address for HTTP")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv("SHOP_DATABASE_URL"), *listen); err != nil {
		slog.Error("shop", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url, listen string) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	n := newNode(pool, prometheus.DefaultRegisterer, send)

	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", placeHTTP(pool))
	mux.Handle("GET /metrics", promhttp.Handler())
	mux.HandleFunc("GET /readyz", health(n.Ready))
	mux.HandleFunc("GET /healthz", health(n.Health))
	server := &http.Server{Addr: listen, Handler: mux, ReadHeaderTimeout: 5 * time.Second}

	// Whatever ends first ends the others: a signal, the node (an operator can drain it), or the server.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer cancel()
		return n.Run(ctx) // until ctx ends; then it claims no more, and waits Grace for its handlers
	})
	group.Go(func() error {
		if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		slog.Info("stopping")
		patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		return server.Shutdown(patience)
	})
	err = group.Wait()
	slog.Info("stopped")
	return err
}

func health(of func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if err := of(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	}
}

// send stands for a call to a mail service, which takes its time.
func send(ctx context.Context, m Mail, _ string) error {
	if !strings.Contains(m.To, "@") {
		return nexus.Reject("no address")
	}
	select {
	case <-time.After(200 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
