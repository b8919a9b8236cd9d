package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// watched is what the endpoints ask.
type watched interface {
	Health() error
	Ready() error
}

// handler answers /metrics, /healthz and /readyz, and nothing else: no profiles, no variables.
func handler(n watched, metrics prometheus.Gatherer, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", patient(promhttp.HandlerFor(metrics, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
	})))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, n.Health()) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, n.Ready()) })
	return mux
}

// answer says ok or why not. The reasons are a node's own words; none holds an address or a password.
func answer(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintln(w, err)
		return
	}
	_, _ = fmt.Fprintln(w, "ok")
}

// serve listens on address at once, so that a wrong one is an error of the start, and answers until stop is called.
func serve(ctx context.Context, address string, h http.Handler, log *slog.Logger) (stop func(), err error) {
	server := &http.Server{Handler: h, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second}
	end, err := listen(ctx, "NEXUS_HTTP_ADDRESS", address, "/metrics, /healthz and /readyz", server, log)
	return func() { end(time.Second) }, err
}

// serveTriggers takes nothing new once ctx has ended, and stop waits until what is under way is answered, or the grace is over: then its requests are cancelled.
func serveTriggers(ctx context.Context, address string, h http.Handler, grace time.Duration, log *slog.Logger) (stop func(), err error) {
	server := &http.Server{Handler: h, ReadTimeout: 30 * time.Second, WriteTimeout: longestReply}
	end, err := listen(ctx, "NEXUS_TRIGGER_ADDRESS", address, "triggers", server, log)
	if err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	unhook := context.AfterFunc(ctx, func() { defer close(ended); end(grace) })
	return func() {
		if unhook() {
			end(0)
			return
		}
		<-ended
	}, nil
}

// longestReply is more than a request may wait for its reply.
const longestReply = 5*time.Minute + 30*time.Second

// listen has a server answer on address. end waits so long for what is under way.
func listen(ctx context.Context, variable, address, what string, server *http.Server, log *slog.Logger) (end func(grace time.Duration), err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", variable, err)
	}
	server.ReadHeaderTimeout, server.IdleTimeout, server.ErrorLog = 5*time.Second, 2*time.Minute, slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	log.Info("answering "+what, "address", listener.Addr().String())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("no longer answering "+what, "error", err)
		}
	}()
	return func(grace time.Duration) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
		<-done
	}, nil
}
