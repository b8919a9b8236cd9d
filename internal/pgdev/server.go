package pgdev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// server is one run of the postmaster.
type server struct {
	cmd     *exec.Cmd
	log     string
	logFrom int64         // where this run's lines begin
	exited  chan struct{} // closed once the process is gone and reaped
}

// The postmaster's own words for shutting down.
const (
	fast      = syscall.SIGINT  // roll back, write a checkpoint
	immediate = syscall.SIGQUIT // drop everything, recover at the next start
)

var errPortTaken = errors.New("the port is taken")

func startServer(c *Cluster) (*server, error) {
	logFile, err := os.OpenFile(c.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the server's log: %w", err)
	}
	defer logFile.Close()
	s := &server{log: c.LogFile(), exited: make(chan struct{})}
	if info, err := logFile.Stat(); err == nil {
		s.logFrom = info.Size()
	}
	// Not bound to a context: the server's life is ended by stop, in Postgres's own way.
	s.cmd = c.command(context.Background(), "postgres", "-D", c.platform.inside(c.dataDir()))
	s.cmd.Stdout, s.cmd.Stderr = logFile, logFile
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start postgres: %w", err)
	}
	go func() {
		defer close(s.exited)
		_ = s.cmd.Wait() // how it ended is in its log
	}()
	return s, nil
}

func (s *server) pid() int { return s.cmd.Process.Pid }

// waitReady returns when the server answers a query, or with the end of its log when it died first.
func (s *server) waitReady(ctx context.Context, url string) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := ping(ctx, url)
		if err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-s.exited:
			return s.diedEarly()
		case <-ctx.Done():
			return fmt.Errorf("postgres is not ready: %w (last answer: %w)\n%s", context.Cause(ctx), err, s.logTail())
		}
	}
}

func (s *server) diedEarly() error {
	tail := s.logTail()
	if bytes.Contains(tail, []byte("could not create any TCP/IP sockets")) {
		return fmt.Errorf("postgres did not start: %w\n%s", errPortTaken, tail)
	}
	return fmt.Errorf("postgres did not start:\n%s", tail)
}

func ping(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return conn.Ping(ctx)
}

// stop ends the server by the given signal and waits until it is gone; when ctx ends first it becomes ruder.
func (s *server) stop(ctx context.Context, how syscall.Signal) error {
	if err := s.signal(how); err != nil {
		return err
	}
	select {
	case <-s.exited:
		return nil
	case <-ctx.Done():
	}
	if err := s.signal(immediate); err != nil {
		return err
	}
	select {
	case <-s.exited:
		return nil
	case <-time.After(10 * time.Second): // the postmaster itself kills its children after five
		_ = s.cmd.Process.Kill()
		<-s.exited
		return errors.New("postgres did not obey an immediate shutdown and was killed")
	}
}

func (s *server) signal(sig syscall.Signal) error {
	if err := s.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal postgres (pid %d): %w", s.pid(), err)
	}
	return nil
}

// logTail is the end of what this run logged.
func (s *server) logTail() []byte {
	const most = 4 << 10
	all, err := os.ReadFile(s.log)
	if err != nil {
		return []byte(err.Error())
	}
	all = all[min(s.logFrom, int64(len(all))):]
	return bytes.TrimSpace(all[max(0, len(all)-most):])
}

// freePort looks below the range from which the kernel takes ports for outgoing connections: one of those could hold the port while
// the server is away for a restart.
func freePort() (int, error) {
	const from, to, tries = 20000, 32000, 100
	var err error
	for range tries {
		port := from + rand.IntN(to-from)
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("find a free port: %w", err)
}
