package node

import (
	"sync"
	"testing"
)

// A handler has ended once it was removed, nothing may call it any more, and its last call has returned, in whatever order.
//
// holds: N1-changes
func TestAHandlerEndsWithItsLastCall(t *testing.T) {
	t.Parallel()
	steps := map[string]func(*calls){
		"removed":        (*calls).remove,
		"its runner ran": func(c *calls) { c.join(-1) },
		"the call ended": (*calls).end,
	}
	for _, order := range [][]string{
		{"removed", "its runner ran", "the call ended"}, {"removed", "the call ended", "its runner ran"}, {"its runner ran", "removed", "the call ended"},
		{"its runner ran", "the call ended", "removed"}, {"the call ended", "removed", "its runner ran"}, {"the call ended", "its runner ran", "removed"},
	} {
		c := newCalls()
		c.join(1)
		c.begin()
		for i, step := range order {
			select {
			case <-c.done:
				t.Errorf("%v: ended before %s", order, step)
			default:
			}
			steps[step](c)
			if i == len(order)-1 {
				<-c.done
			}
		}
		c.remove()
	}
	// Many at once.
	c := newCalls()
	c.join(1)
	var calling sync.WaitGroup
	for range 8 {
		calling.Go(func() {
			for range 1000 {
				c.begin()
				c.end()
			}
		})
	}
	c.remove()
	calling.Wait()
	c.join(-1)
	<-c.done
}
