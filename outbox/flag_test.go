package outbox_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
)

const flagIsUp = "select coalesce(max(waiting_until) > core.now(), false) from core_private.wake_flags where key = 'outbox shop pay'"

// Who waits is called, and who has much to do is not: not for a lane that is in hand, and not for others. A lane that is free has its message soon,
// although another one's handler takes long.
// holds: LN4
func TestWhoIsBusyIsNotCalled(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 2, nil)
	slow, release := make(chan struct{}), make(chan struct{})
	start(t, db, node.Config{Poll: time.Hour}, outbox.HandleLeased("pay", func(ctx context.Context, m *outbox.Item) error {
		if string(m.Body) == "slow" {
			close(slow)
			<-release
		}
		return nil
	}))

	listener, err := pgx.ConnectConfig(t.Context(), db.Owner.Config().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close(context.WithoutCancel(t.Context())) }()
	if _, err := listener.Exec(t.Context(), "listen nexus_wake"); err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	listening, stop := context.WithCancel(t.Context())
	var heard sync.WaitGroup
	heard.Go(func() {
		for {
			if _, err := listener.WaitForNotification(listening); err != nil {
				return
			}
			calls.Add(1)
		}
	})
	defer heard.Wait()
	defer stop()

	send := func(key, body string) {
		m := outbox.Message{Queue: "pay", Key: key, Type: "text/plain", Body: []byte(body)}
		if _, err := outbox.Enqueue(t.Context(), db.Owner, ns, m); err != nil {
			t.Error(err)
		}
	}
	sendWhile := func(more func() bool) (done func()) {
		var senders sync.WaitGroup
		for range 4 {
			senders.Go(func() {
				for more() && !t.Failed() {
					send("one", "x")
				}
			})
		}
		return senders.Wait
	}
	db.Wait(flagIsUp)
	var enough atomic.Bool
	done := sendWhile(func() bool { return !enough.Load() })
	db.Wait("select not (" + flagIsUp + ")")
	enough.Store(true)
	done()
	if n := calls.Load(); n == 0 || n > 1000 {
		t.Errorf("%d calls until there were too many", n)
	}
	const more = 400
	var sent atomic.Int64
	before := calls.Load()
	sendWhile(func() bool { return sent.Add(1) <= more })()
	if n := calls.Load() - before; n > more/4 {
		t.Errorf("%d calls for %d messages under way", n, more)
	}

	defer close(release)
	send("one", "slow")
	<-slow
	db.Wait(flagIsUp)
	send(dbtest.Get[string](db, "select min(i)::text from generate_series(1, 100) i where core_private.lane_of_key(i::text, 2) <> core_private.lane_of_key('one', 2)"), "x")
	db.Wait("select count(*) = 2 from core.lane_status where seq > 0")
}
