package seldom

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestALineComesOnceInAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l Line
		if !l.Due() || l.Due() {
			t.Error("the first time is not said, or it is said twice")
		}
		<-time.After(Every)
		if l.Due() {
			t.Error("said again too soon")
		}
		<-time.After(time.Second)
		if !l.Due() {
			t.Error("not said again")
		}
		l.Over()
		if !l.Due() {
			t.Error("what begins anew is no news")
		}
	})
}
