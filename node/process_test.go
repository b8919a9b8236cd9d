package node

import (
	"os"
	"os/exec"
	"testing"
)

// holds: N1-gone
func TestProcessesThatAreGone(t *testing.T) {
	me := self()
	if me == (process{}) {
		t.Skip("there is no /proc here")
	}
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	start, dead, err := stat(cmd.Process.Pid)
	if err != nil || dead {
		t.Fatalf("stat: %v, dead %v", err, dead)
	}
	child := process{Boot: me.Boot, Space: me.Space, PID: cmd.Process.Pid, Start: start}
	with := func(change func(*process)) process {
		p := child
		change(&p)
		return p
	}
	check := func(what string, p process, want bool) {
		t.Helper()
		if got := p.gone(me); got != want {
			t.Errorf("%s: gone %v, want %v", what, got, want)
		}
	}
	check("this one", me, false)
	check("one that runs", child, false)
	check("one before it, of the same number", with(func(p *process) { p.Start = "1" }), true)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for !child.gone(me) { // as soon as the kernel says so, even while nobody has waited for it
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("it was killed")
	}
	check("one that has ended", child, true)
	check("under another kernel", with(func(p *process) { p.Boot = "other" }), false)
	check("in another container", with(func(p *process) { p.Space = "pid:[1]" }), false)
	check("who told nothing", process{}, false)
	check("half of it", with(func(p *process) { p.Start = "" }), false)
	if child.gone(process{}) {
		t.Error("who knows nothing of itself knows nothing of others")
	}
	if os.Getpid() != me.PID {
		t.Errorf("pid %d, not %d", me.PID, os.Getpid())
	}
}
