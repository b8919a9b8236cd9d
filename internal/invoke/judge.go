package invoke

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/work"
)

// ErrDecode marks the error of a payload that does not fit the type its handler takes.
var ErrDecode = errors.New("payload does not decode")

// End is how a call of an item's handlers ended.
type End struct {
	Err   error
	Stack []byte // of a panic or a Goexit, "" otherwise
}

// errGoexit is the error of a handler that did not return.
var errGoexit = errors.New("the handler ended its goroutine (runtime.Goexit)")

// Catch calls f and notes how it ended, also if that is the end of the goroutine.
func (e *End) Catch(f func() error) {
	returned := false
	defer func() {
		p := recover()
		err, _ := p.(error)
		if _, decode := inspect(err); decode { // by what cannot return it
			*e = End{Err: err}
		} else if p != nil {
			*e = End{Err: fmt.Errorf("panic: %s", panicText(p)), Stack: debug.Stack()}
		} else if !returned {
			*e = End{Err: errGoexit, Stack: debug.Stack()}
		}
	}()
	*e = End{Err: f()}
	returned = true
}

// Judge turns the end of a call into what is settled. cause is why the handler's context ended, nil if it did not.
func Judge(e End, cause error, timeout time.Duration) work.Result {
	switch {
	case errors.Is(cause, nexus.ErrDraining), errors.Is(cause, nexus.ErrLeaseLost):
		// Work that was done counts, if the fence still holds; anything else was our doing, not the handler's.
		if e.Err == nil {
			return work.Result{Action: work.Ack}
		}
		return work.Result{Action: work.Release, Reason: cause.Error(), Error: Failure(e)}
	case errors.Is(cause, context.DeadlineExceeded):
		text := fmt.Sprintf("not done after %s", timeout)
		if e.Err != nil {
			text += ": " + Failure(e)
		}
		return work.Result{Action: work.Retry, Reason: work.ReasonTimeout, Error: work.Storable(text, work.MaxText)}
	case e.Err == nil:
		return work.Result{Action: work.Ack}
	case e.Stack != nil:
		return work.Result{Action: work.Retry, Reason: work.ReasonPanic, Error: Failure(e)}
	}
	r := work.Result{Action: work.Retry, Reason: work.ReasonError, Error: Failure(e)}
	v, decode := inspect(e.Err)
	switch {
	case v == nil:
		if decode {
			r.Reason = work.ReasonDecode
		}
	case v.Action == nexus.ActionRetry:
		r.After, r.Exact = bounded(v.After), true
	case v.Action == nexus.ActionReject:
		r.Action, r.Reason = work.Reject, work.Storable(v.Reason, work.MaxText)
	case v.Action == nexus.ActionRelease:
		r.Action, r.After = work.Release, bounded(v.After)
	}
	return r
}

// Ended is the result of handlers that ended the node's transaction. What they wrote may be committed without the ack,
// so another attempt might do it twice: that is for people to decide.
func Ended(how, err error) work.Result {
	text := how.Error()
	if err != nil && err != ErrEnded { //nolint:errorlint // the methods of a handler's error stay out of this
		text += "; its error: " + TextOf(err)
	}
	return work.Result{Action: work.Reject, Reason: work.ReasonEnded, Error: work.Storable(text, work.MaxText)}
}

// Broken is the result of handlers that lost their transaction through no fault of theirs. That gives the event back, but not for ever: one
// that makes the server crash each time would go round.
func Broken(d *nexus.Delivery, err error) work.Result { return BrokenAgain(d.Deferrals, err) }

// BrokenAgain is [Broken] of something that was given back so often before.
func BrokenAgain(times int, err error) work.Result {
	text := Failure(End{Err: err})
	if times >= brokenLimit {
		return work.Result{Action: work.Retry, Reason: work.ReasonError, Error: text}
	}
	return work.Result{Action: work.Release, After: time.Second, Reason: "connection lost", Error: text}
}

// brokenLimit is how many releases something may have before a lost connection counts as its failure.
const brokenLimit = 10

// bounded is a delay as it can be settled: a time that has passed is now, and nothing waits longer than 30 days.
func bounded(after time.Duration) time.Duration { return min(max(after, 0), maxAfter) }

const maxAfter = 30 * 24 * time.Hour

// inspect finds a verdict in err. Errors have methods of their own that run here, and those may panic.
func inspect(err error) (v *nexus.Verdict, decode bool) {
	defer func() {
		if recover() != nil {
			v, decode = nil, false
		}
	}()
	v, _ = errors.AsType[*nexus.Verdict](err)
	return v, errors.Is(err, ErrDecode)
}

// Failure is what is stored of a failed attempt: what the error says and the stack, if it is the end of a goroutine.
func Failure(e End) string {
	text := TextOf(e.Err)
	if e.Stack != nil {
		// Keep room for the stack, whatever the size of the value that panicked.
		text = work.Storable(text, work.MaxText/4) + "\n\n" + string(e.Stack)
	}
	return work.Storable(text, work.MaxText)
}

// TextOf calls err.Error, which may panic: a nil pointer in an error value is the usual reason. It stays a failure, since
// Go has no way to say that it was not meant.
func TextOf(err error) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprintf("%T, whose Error method panics: %s", err, panicText(p))
		}
	}()
	return err.Error()
}

// panicText formats a panic's value, whose own methods may panic again; fmt takes care of that.
func panicText(p any) string { return fmt.Sprintf("%v", p) }

// Named calls f for each named error in the tree of err, but not for those inside of one. Unwrap belongs to the handlers, so
// it may panic; what was found before counts.
func Named(err error, f func(*nexus.DeliveryError)) {
	defer func() { _ = recover() }()
	switch e := err.(type) { //nolint:errorlint // this is the walk through the tree that errors.As would do, to find all
	case *nexus.DeliveryError:
		if e != nil {
			f(e)
		}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			Named(one, f)
		}
	case interface{ Unwrap() error }:
		Named(e.Unwrap(), f)
	}
}
