package invoke_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/work"
)

func begin(t *testing.T, c *invoke.Call, timeout time.Duration) context.Context {
	t.Helper()
	ctx, ok := c.Begin(&invoke.Root{Parent: t.Context()}, time.Now(), timeout)
	if !ok {
		t.Fatal("given up before it began")
	}
	t.Cleanup(c.Release)
	return ctx
}

// holds: H3-stuck
func TestACallIsOverdueSomeTimeAfterItsEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end    func(*invoke.Call)
		action work.Action
		reason string
	}{
		"its timeout":    {func(*invoke.Call) {}, work.Retry, work.ReasonTimeout},
		"the node stops": {func(c *invoke.Call) { c.Stop(nexus.ErrDraining) }, work.Release, nexus.ErrDraining.Error()},
		"its lease":      {func(c *invoke.Call) { c.Stop(nexus.ErrLeaseLost) }, work.Release, nexus.ErrLeaseLost.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var call invoke.Call
				if call.Overdue(time.Now()) {
					t.Error("overdue before it began")
				}
				ctx := begin(t, &call, 10*time.Second)
				c.end(&call)
				<-ctx.Done()
				call.Overdue(time.Now())
				<-time.After(invoke.Stay - time.Millisecond)
				if call.Overdue(time.Now()) {
					t.Error("overdue at once")
				}
				<-time.After(2 * time.Millisecond)
				if !call.Overdue(time.Now()) {
					t.Fatal("not overdue")
				}
				r, mine := call.GiveUp()
				if !mine || r.Action != c.action || r.Reason != c.reason {
					t.Errorf("mine %v, %s %s", mine, r.Action, r.Reason)
				}
				if call.Overdue(time.Now()) || !call.GivenUp() {
					t.Error("given up, and still overdue")
				}
				if _, mine := call.Back(); mine {
					t.Error("settled twice")
				}
			})
		})
	}
}

func TestACallIsSettledOnce(t *testing.T) {
	t.Parallel()
	var call invoke.Call
	begin(t, &call, 0)
	if cause, mine := call.Back(); !mine || cause != nil {
		t.Errorf("mine %v, cause %v", mine, cause)
	}
	if _, mine := call.GiveUp(); mine {
		t.Error("settled twice")
	}
}

// What is stopped before it began has an ended context, and what is given up before it began never begins.
func TestCallsOfOneRootEndApart(t *testing.T) {
	t.Parallel()
	root := invoke.Root{Parent: t.Context()}
	defer root.Close()
	lost := errors.New("lost")
	for i, stop := range []bool{false, true, false, true, true, false} {
		var call invoke.Call
		ctx, _ := call.Begin(&root, time.Now(), time.Minute)
		if err := ctx.Err(); err != nil {
			t.Fatalf("call %d began with %v", i, err)
		}
		if stop {
			call.Stop(lost)
		}
		cause, _ := call.Back()
		if (cause != nil) != stop || stop && !errors.Is(cause, lost) {
			t.Errorf("call %d ended with %v", i, cause)
		}
		call.Release()
		if ctx.Err() == nil {
			t.Errorf("the context of call %d goes on", i)
		}

		var next invoke.Call
		ctx, _ = next.Begin(&root, time.Now(), 0)
		call.Stop(lost) // too late: it is back
		if err := ctx.Err(); err != nil {
			t.Fatalf("the end of call %d reached the next one: %v", i, err)
		}
		if _, mine := next.Back(); !mine {
			t.Error("the next call was settled by somebody else")
		}
		next.Release()
	}
}

func TestACallThatEndsBeforeItBegins(t *testing.T) {
	t.Parallel()
	var stopped, given invoke.Call
	stopped.Stop(nexus.ErrDraining)
	if ctx := begin(t, &stopped, 0); !errors.Is(context.Cause(ctx), nexus.ErrDraining) {
		t.Errorf("cause %v", context.Cause(ctx))
	}
	if r, mine := given.GiveUp(); !mine || r.Action != work.Release {
		t.Errorf("mine %v, %s", mine, r.Action)
	}
	_, ok := given.Begin(&invoke.Root{Parent: t.Context()}, time.Now(), 0)
	defer given.Release()
	if _, mine := given.Back(); ok || mine {
		t.Errorf("begun %v, mine %v", ok, mine)
	}
}

// Each handler of a call has a time of its own.
func TestHandlersOfACallHaveATimeEach(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		call := invoke.Apart()
		begin(t, call, 0)
		end := make(chan struct{})
		go func() {
			<-time.After(8 * time.Second)
			if call.Overdue(time.Now()) {
				t.Error("the first one's time was the second one's")
			}
			<-time.After(10 * time.Second)
			if !call.Overdue(time.Now()) {
				t.Error("not overdue")
			}
			if r, _ := call.GiveUp(); r.Reason != work.ReasonTimeout {
				t.Errorf("given up since %q", r.Reason)
			}
		}()
		e, late := call.Wait(func() error {
			call.Expect(time.Second)
			<-time.After(time.Second)
			call.Expect(10 * time.Second)
			<-end
			return nil
		})
		if !errors.Is(e.Err, invoke.ErrIgnored) || late == nil {
			t.Fatalf("ended with %v", e.Err)
		}
		close(end)
		<-late
	})
}

func TestACallThatComesBack(t *testing.T) {
	t.Parallel()
	call := invoke.Apart()
	begin(t, call, 0)
	boom := errors.New("boom")
	if e, late := call.Wait(func() error { return boom }); !errors.Is(e.Err, boom) || late != nil {
		t.Errorf("ended with %v", e.Err)
	}
}

// A handler that ends its goroutine is back, as one that panics is: nobody waits for it until its time is over.
// holds: H3-stuck
func TestACallApartIsBackHoweverItEnds(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func() error{
		"it returns": func() error { return errors.New("no") },
		"it panics":  func() error { panic("no") },
		"it exits":   func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				call := invoke.Apart()
				begin(t, call, 10*time.Second)
				e, late := call.Wait(f)
				if late != nil || e.Err == nil || errors.Is(e.Err, invoke.ErrIgnored) {
					t.Errorf("ended with %v, given up: %t", e.Err, late != nil)
				}
			})
		})
	}
}
