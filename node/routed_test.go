package node_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// deliverTo puts a delivery for a handler on the queue of a routed consumer.
func deliverTo(db *dbtest.DB, consumer, target string, payload int) {
	db.Exec(`select core_private.deliver_routed((select queue_name from core.consumers where name = $1), $2,
		jsonb_build_object('namespace', 'shop', 'eventType', 'order.made', 'payload', $3::int, 'eventId', 7, 'eventUid', '01900000-0000-7000-8000-000000000001'), null, null, core.now())`,
		consumer, target, payload)
}

// What names a handler reaches that one, in every mode, of a node and in SQL; a failure is one of its event's type.
// holds: T0
func TestHandlersAreReachedByKey(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	writeHandler(t, db, "keyed", "", "begin insert into notes values (p_event ->> 'eventType' || ' ' || (p_event ->> 'target') || ' ' || (p_event ->> 'payload')); end")
	db.Exec(`insert into core.handlers (namespace, key, kind, function, owner, registered_by, created_by, created_at)
		select 'shop', 'sql:keyed', 'sql', h.function, h.owner::regrole, h.owner::regrole, h.owner, core.now() from core.sql_handlers h where h.consumer = 'keyed'`)

	var mu sync.Mutex
	var got []string
	saw := func(mode string, d *nexus.Delivery) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, fmt.Sprintf("%s %s %s %s %s", mode, d.Consumer, d.Target, d.Type, d.Payload))
	}
	n := running(t, db, db.SQLURL())
	n.Triggers().On("tx", func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error { saw("tx", d); return nil })
	n.Triggers().OnBatch("batch", func(_ context.Context, _ pgx.Tx, batch []*nexus.Delivery) error {
		for _, d := range batch {
			saw("batch", d)
		}
		return nil
	})
	n.Triggers().OnLeased("bad", func(context.Context, *nexus.Delivery) error { return nexus.Reject("no") })
	node.OnLeasedT(n.Routed("slow"), nexus.EventType[int]("typed"), func(_ context.Context, d *nexus.DeliveryOf[int]) error { saw("typed", d.Delivery); return nil })
	n.On("*", func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error { saw("default", d); return nil })
	stop := start(t, n)
	db.Wait(`select count(*) = 2 from core.consumers where routed`)
	for i, to := range []string{"triggers go:tx", "triggers go:batch", "triggers go:bad", "slow go:typed", "triggers sql:keyed"} {
		consumer, target, _ := strings.Cut(to, " ")
		deliverTo(db, consumer, target, i)
	}
	emit(t, db, "order.made", 9)
	db.Wait(`select coalesce(sum(queue_length), 0) = 1 from core.queue_metrics`) // the copy of the dead letter
	stop()
	slices.Sort(got)
	want := []string{
		"batch triggers go:batch order.made 1", "default default  order.made 9", "tx triggers go:tx order.made 0", "typed slow go:typed order.made 3",
	}
	if !slices.Equal(got, want) {
		t.Errorf("handled:\n%s", strings.Join(got, "\n"))
	}
	if said := dbtest.Get[[]string](db, `select array_agg(said order by said) from keyed.notes where said like '%sql:keyed%'`); !slices.Equal(said, []string{"order.made sql:keyed 4"}) {
		t.Errorf("in SQL: %v", said)
	}
	if l := dbtest.Get[string](db, `select event_type || ' ' || consumer from core.dead_letters`); l != "order.made triggers" {
		t.Errorf("dead letter: %s", l)
	}
}

// holds: T0
func TestRoutedConsumersHaveNoPatterns(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	nothing := func(context.Context, *nexus.Delivery) error { return nil }
	for name, register := range map[string]func(n *node.Node){
		"pattern": func(n *node.Node) { n.Triggers().OnLeased("mail.*", nothing) },
		"options": func(n *node.Node) {
			n.Triggers().OnLeased("mail", nothing)
			n.Triggers().ConsumerOptions = queue.ConsumerOptions{MaxInFlight: 3}
		},
		"both": func(n *node.Node) {
			n.Triggers().OnLeased("mail", nothing)
			n.Subscribe("triggers", "*").OnLeased("*", nothing)
		},
	} {
		n := node.New(db.Pool, node.Config{Namespace: "shop"})
		register(n)
		if err := n.Run(t.Context()); !errors.Is(err, nexus.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	n := node.New(db.Pool, node.Config{Namespace: "shop"})
	n.Subscribe("triggers", "*").OnLeased("*", nothing)
	if err := n.Run(t.Context()); !errors.Is(err, nexus.ErrInvalid) {
		t.Errorf("a reserved name: %v", err)
	}
}
