package demo

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
)

// stopPatience is what a node that was told to stop gets before it counts as hung.
const stopPatience = 45 * time.Second

// process is one node.
type process struct {
	name  string
	cmd   *exec.Cmd
	said  tail
	ended chan struct{} // closed once it is gone and reaped
	err   error         // how it ended
}

// spawn starts a node. It sees nothing of this process's environment, whose settings are not meant for it, and it holds the
// end of a pipe by which it learns that this process is gone, however that came.
func (d *demo) spawn(name string) (*process, error) {
	p := &process{name: name, ended: make(chan struct{})}
	p.cmd = exec.Command(d.NodeArgs[0], append(slices.Clone(d.NodeArgs[1:]), name)...)
	p.cmd.Env = []string{config.EnvDatabaseURL + "=" + d.url}
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	if _, err := p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		defer close(p.ended)
		p.err = p.cmd.Wait()
	}()
	d.nodes = append(d.nodes, p)
	return p, nil
}

// kill ends a node without a word, as kill -9 does, and returns when it is gone.
func (d *demo) kill(p *process) {
	d.nodes = slices.DeleteFunc(d.nodes, func(q *process) bool { return q == p })
	_ = p.cmd.Process.Kill() // fails only if it is gone already
	<-p.ended
}

// stop asks a node to end and fails if it does not end well.
func (d *demo) stop(p *process) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	select {
	case <-p.ended:
	case <-time.After(stopPatience):
		d.kill(p)
		return p.fault(fmt.Errorf("did not stop within %s of SIGTERM", stopPatience))
	}
	d.nodes = slices.DeleteFunc(d.nodes, func(q *process) bool { return q == p })
	if p.err != nil {
		return p.fault(p.err)
	}
	return nil
}

// fallen is an error if a node that should be running is not.
func (d *demo) fallen() error {
	for _, p := range d.nodes {
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended by itself: %s", p.name, p.cmd.ProcessState)
		default:
		}
	}
	return nil
}

// fault names the node and repeats its last words. The node is gone.
func (p *process) fault(err error) error {
	return fmt.Errorf("%s: %w\n%s", p.name, err, p.said.bytes())
}

// tail keeps the end of what is written. Reading is safe once the writer is gone.
type tail struct{ kept []byte }

const mostKept = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - mostKept; over > 0 {
		t.kept = t.kept[over:]
	}
	return len(b), nil
}

func (t *tail) bytes() []byte { return bytes.TrimSpace(t.kept) }
