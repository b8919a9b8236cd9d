package workflow

import (
	"runtime"
	"testing"
	"time"
)

// Two runs with quick steps commit together, though neither waits for anybody but the other.
func TestQuickCommitsGoTogether(t *testing.T) {
	r := &runner{commits: make(chan *commit, groupMost), together: together{gathering: make(chan struct{}, 1)}}
	quick := func() *commit { return &commit{quick: true} }
	gathered := make(chan int)
	gather := func() {
		group, _ := r.gather(nil)
		gathered <- len(group)
	}
	want := func(n int, when string) {
		t.Helper()
		if got := <-gathered; got != n {
			t.Errorf("%s a group has %d commits, want %d", when, got, n)
		}
	}

	r.commits <- quick()
	go gather()
	want(1, "while nobody else is under way")

	one := quick()
	landed := r.together.sent([]*commit{one})
	if wait, ended := r.together.coming(time.Now()); wait <= 0 || ended == nil {
		t.Error("nobody waits for the end of an exchange of a quick commit")
	}
	w := landed()
	if one.wave != w || w == nil {
		t.Fatal("a quick commit is not known to come back")
	}
	w.until = time.Now().Add(time.Hour)
	r.commits <- quick()
	go gather()
	for len(r.commits) > 0 {
		runtime.Gosched()
	}
	select {
	case n := <-gathered:
		t.Errorf("a group of %d is sent before one that is sure to come soon has come", n)
	default:
	}
	one.wave.back()
	r.commits <- quick()
	want(2, "after a quick one came back")

	r.commits <- quick()
	go gather()
	want(1, "when all have come back")

	slow := &commit{}
	landed = r.together.sent([]*commit{slow})
	r.commits <- quick()
	go gather()
	want(1, "beside a slow one")
	if landed(); slow.wave != nil {
		t.Error("a slow commit is waited for")
	}
}

// Nobody waits for anybody where exchanges are short, or one of the last was: flushes are cheap then, and what else there is goes side by side.
func TestWhereFlushesAreCheapNobodyWaits(t *testing.T) {
	var tg together
	for range 100 {
		if soon := tg.soon(3 * apart); soon == 0 {
			t.Fatal("where exchanges are long nothing is quick")
		}
	}
	if soon := tg.soon(apart / 2); soon != 0 {
		t.Errorf("after a short exchange a step of %s is quick", soon)
	}
	if soon := tg.soon(3 * apart); soon != 0 {
		t.Errorf("a single long exchange makes a step of %s quick", soon)
	}
	var soon time.Duration
	for range 20 {
		soon = tg.soon(3 * apart)
	}
	if soon != 3*apart/4 {
		t.Errorf("after many long ones a step of %s is quick", soon)
	}
}

// What has to come again comes again although another committer waits for the next commit, and there is none.
func TestACarriedCommitWaitsForNobody(t *testing.T) {
	r := &runner{commits: make(chan *commit), together: together{gathering: make(chan struct{}, 1)}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.gather(nil)
	}()
	for len(r.together.gathering) == 0 {
		runtime.Gosched()
	}
	if group, more := r.gather([]*commit{{}}); len(group) != 1 || !more {
		t.Errorf("it gathered %d commits, %v", len(group), more)
	}
	close(r.commits)
	<-ended
}
