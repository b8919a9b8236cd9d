package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
)

// asWorker is the word on the command line that makes the program a node.
const asWorker = "be-worker"

// job is what a node process is told, as one line on its input. The end of the input is the end of the parent.
type job struct {
	URL       string // of the pool
	WakeURL   string // direct, where URL leads through a pooler
	Pooled    bool
	Namespace nexus.Namespace
	ID        string
	Version   int // picks the modes of mixed types
	Journal   string
	Leaky     bool // planted: effects commit by themselves, ahead of the ack
}

const (
	lease        = 2 * time.Second
	expressLimit = time.Second
)

// worker is the whole life of a node process.
func worker() error {
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var j job
	if err := json.Unmarshal(line, &j); err != nil {
		return err
	}
	turn := make(chan struct{}, 1) // a line more: the handlers are to change
	go func() {
		for {
			if _, err := in.ReadString('\n'); err != nil {
				os.Exit(1) // nobody is left to judge what it does
			}
			select {
			case turn <- struct{}{}:
			default:
			}
		}
	}()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return j.run(ctx, turn)
}

func (j job) run(ctx context.Context, turn <-chan struct{}) error {
	cfg, err := pgxpool.ParseConfig(j.URL)
	if err != nil {
		return err
	}
	cfg.MaxConns = 6
	if j.Pooled {
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer pool.Close()
	book, err := openJournal(j.Journal)
	if err != nil {
		return err
	}
	defer book.file.Close()
	n := node.New(pool, node.Config{
		Namespace: j.Namespace, ID: j.ID, WakeURL: j.WakeURL,
		Lease: lease, Poll: 250 * time.Millisecond, Grace: 5 * time.Second, Timeout: 20 * time.Second, Express: expressLimit,
		Retry:  nexus.RetryPolicy{MaxAttempts: maxAttempts, Base: 50 * time.Millisecond, Max: 500 * time.Millisecond},
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	a := &actor{pool: pool, book: book, namespace: j.Namespace, leaky: j.Leaky}
	handlers := a.all(n, j.Version)
	go func() {
		for version := j.Version + 1; ; version++ {
			select {
			case <-turn:
			case <-ctx.Done():
				return
			}
			for _, h := range handlers {
				h.Remove()
			}
			handlers = a.all(n, version)
			// If that fails, the node goes on as it was, until the next time.
			within, cancel := context.WithTimeout(ctx, 10*time.Second)
			if err := n.Apply(within); err != nil {
				fmt.Fprintln(os.Stderr, "the handlers did not change:", err)
			}
			cancel()
		}
	}()
	return n.Run(ctx)
}

// all registers the handlers of a version.
func (a *actor) all(n *node.Node, version int) (handlers []*node.Handler) {
	for _, p := range prefixes {
		handlers = append(handlers, a.register(n, p.prefix+".*", modeOf(p.prefix, version)))
	}
	return handlers
}
