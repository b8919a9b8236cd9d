package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nexuspg/nexus"
)

// place is where a node process runs: while the fleet is up there is one, a new one whenever the last has ended.
type place struct {
	namespace nexus.Namespace
	route     string // direct, proxy or pooler
	version   int
	now       *process // nil while there is none
}

// process is one node process.
type process struct {
	place  *place
	cmd    *exec.Cmd
	input  io.WriteCloser
	said   tail
	ended  chan struct{} // closed once it is gone and reaped
	ending string        // why it may end: deathKilled or deathStopped; "" if it should not
	frozen bool
}

// death is how a process ended.
type death struct {
	pid int
	ns  nexus.Namespace
	why string
	at  time.Time
}

const (
	deathKilled  = "killed"  // by the plan
	deathSelf    = "self"    // by an event
	deathStopped = "stopped" // in order
	deathExited  = "exited"  // by itself; nothing gives it a reason to
	deathHung    = "hung"    // did not end within patience
)

// stopPatience is what a process that was told to stop gets: its grace, and what a busy machine and a server that is away take.
const stopPatience = 60 * time.Second

// trouble is a time in which leases could not be renewed.
type trouble struct {
	what     string
	pid      int // 0: of everybody
	from, to time.Time
}

// fleet keeps node processes running.
type fleet struct {
	command []string // of a worker
	dir     string   // of the journals
	urls    map[string]string
	direct  string // for wake-ups of those behind the pooler
	leaky   bool

	mu       sync.Mutex
	places   []*place
	deaths   []death
	troubles []trouble
	faults   []error // what a process must not do
	started  int
	closed   bool
	all      sync.WaitGroup
}

// add opens a place and starts its first process.
func (f *fleet) add(ns nexus.Namespace, route string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := &place{namespace: ns, route: route}
	f.places = append(f.places, p)
	return f.spawn(p)
}

// spawn starts a process at a place. The caller holds the mutex.
func (f *fleet) spawn(at *place) error {
	f.started++
	j := job{
		URL: f.urls[at.route], Namespace: at.namespace, ID: fmt.Sprintf("%s-%s-%d", at.namespace, at.route, f.started), Version: at.version, Leaky: f.leaky,
		Journal: filepath.Join(f.dir, fmt.Sprintf("%d.csv", f.started)),
	}
	if at.route == routePooler {
		j.Pooled, j.WakeURL = true, f.direct
	}
	line, err := json.Marshal(j)
	if err != nil {
		return err
	}
	p := &process{place: at, ended: make(chan struct{})}
	p.cmd = exec.Command(f.command[0], f.command[1:]...)
	p.cmd.Env = []string{"PATH=" + "/usr/bin:/bin"}
	p.cmd.Stderr = &p.said
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return err
	}
	p.input = in
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start a node process: %w", err)
	}
	if _, err := in.Write(append(line, '\n')); err != nil && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	at.now = p
	f.all.Go(func() {
		err := p.cmd.Wait()
		close(p.ended)
		f.gone(p, err)
	})
	return nil
}

// gone notes how a process ended and fills its place again.
func (f *fleet) gone(p *process, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	why := p.ending
	var exit *exec.ExitError
	killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled()
	switch {
	case why == deathStopped && err == nil, why == deathKilled, why == deathHung:
	case killed:
		why = deathSelf
	case err == nil:
		why = deathStopped // drained by an operator
	default:
		why = deathExited
		f.faults = append(f.faults, fmt.Errorf("node process %d (%s, %s) ended by itself: %w\n%s", p.cmd.Process.Pid, p.place.namespace, p.place.route, err, p.said.end()))
	}
	f.deaths = append(f.deaths, death{p.cmd.Process.Pid, p.place.namespace, why, time.Now()})
	if p.place.now != p {
		return // replaced already
	}
	p.place.now = nil
	if f.closed {
		return
	}
	if err := f.spawn(p.place); err != nil {
		f.faults = append(f.faults, err)
	}
}

// some picks a process that runs.
func (f *fleet) some(r *rand.Rand) *process {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []*process
	for _, at := range f.places {
		if at.now != nil && at.now.ending == "" && !at.now.frozen {
			list = append(list, at.now)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[r.IntN(len(list))]
}

func (f *fleet) kill(p *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.ending == "" {
		p.ending = deathKilled
	}
	_ = p.cmd.Process.Kill()
}

// freeze stops a process for a while, as a paused machine is.
func (f *fleet) freeze(ctx context.Context, p *process, d time.Duration) error {
	from := time.Now()
	f.mu.Lock()
	p.frozen = true
	err := p.cmd.Process.Signal(syscall.SIGSTOP)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		p.frozen = false
		_ = p.cmd.Process.Signal(syscall.SIGCONT)
		f.troubles = append(f.troubles, trouble{"frozen", p.cmd.Process.Pid, from, time.Now()})
	}()
	if err != nil {
		return err
	}
	return pause(ctx, d, false)
}

// deploy starts the next version at a place and stops the old one.
func (f *fleet) deploy(ctx context.Context, p *process) error {
	f.mu.Lock()
	if p.ending != "" || p.place.now != p {
		f.mu.Unlock()
		return nil
	}
	p.ending = deathStopped
	p.place.version++
	err := f.spawn(p.place)
	f.mu.Unlock()
	if err != nil {
		return err
	}
	f.stop(ctx, p)
	return nil
}

// stop tells a process to end and waits until it has.
func (f *fleet) stop(ctx context.Context, p *process) {
	f.mu.Lock()
	p.ending = deathStopped
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	f.mu.Unlock()
	late := time.NewTimer(stopPatience)
	defer late.Stop()
	select {
	case <-p.ended:
		return
	case <-late.C:
		f.mu.Lock()
		f.faults = append(f.faults, fmt.Errorf("node process %d did not end within %s of SIGTERM:\n%s", p.cmd.Process.Pid, stopPatience, p.said.end()))
		f.mu.Unlock()
	case <-ctx.Done():
	}
	f.mu.Lock()
	p.ending = deathHung
	f.mu.Unlock()
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// close stops all processes.
func (f *fleet) close(ctx context.Context) {
	f.mu.Lock()
	f.closed = true
	var list []*process
	for _, at := range f.places {
		if at.now != nil {
			list = append(list, at.now)
		}
	}
	f.mu.Unlock()
	var stopping sync.WaitGroup
	for _, p := range list {
		stopping.Go(func() { f.stop(ctx, p) })
	}
	stopping.Wait()
	f.all.Wait()
}

// disturb notes a trouble of everybody.
func (f *fleet) disturb(what string, from time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.troubles = append(f.troubles, trouble{what, 0, from, time.Now()})
}

// tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

const mostKept = 16 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - mostKept; over > 0 {
		t.kept = t.kept[over:]
	}
	return len(b), nil
}

func (t *tail) end() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(bytes.TrimSpace(t.kept)))
}

// workerCommand runs this program as a node.
func workerCommand() ([]string, error) {
	self, err := os.Executable()
	return []string{self, asWorker}, err
}
