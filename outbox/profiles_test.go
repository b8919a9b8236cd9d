package outbox_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
)

// A profile says how many messages of a lane are in hand at once, and the view who has them and how many are left.
// holds: LN10 (batches, the view)
func TestBatchesOfProfiles(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, ID: "worker"})
	got := map[outbox.Profile]string{}
	for _, profile := range []outbox.Profile{outbox.Default, outbox.LowLatency, outbox.HighThroughput, outbox.Relaxed} {
		queue := "jobs-" + strings.ReplaceAll(string(profile), "_", "-") + "-1"
		register(t, db, queue, 1, &outbox.QueueOptions{Profile: profile})
		enqueue(t, db, queue, numbers(501)...)
		n.Add(outbox.HandleBatch(queue, func(_ context.Context, _ pgx.Tx, batch []*outbox.Item) error {
			if got[profile] == "" {
				got[profile] = fmt.Sprintf("%d %s", len(batch), dbtest.Get[string](db,
					"select concat_ws(' ', lag, seq, why, locked_by like 'worker%', locked_until > core.now(), lag_time >= '0') from core.lane_status where queue = $1", queue))
			}
			return nil
		}))
	}
	if did, err := n.Work(t.Context(), 10_000); err != nil || did != 4*501 {
		t.Fatal(did, err)
	}
	want := map[outbox.Profile]string{outbox.Default: "50", outbox.LowLatency: "10", outbox.HighThroughput: "500", outbox.Relaxed: "100"}
	for p := range want {
		want[p] += " 501 0 t t t"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Each byte is kept, in the dead letters and when it comes again as well.
// holds: LN9 (byte for byte)
func TestBytesOfADeadMessage(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 4, nil)
	all := make([]byte, 512)
	for i := range all {
		all[i] = byte(i)
	}
	sent := outbox.Message{Queue: "pay", Key: "Zoë", Type: "application/" + strings.Repeat("x", 1012), Body: all}
	first, err := outbox.Enqueue(t.Context(), db.Owner, ns, sent)
	if err != nil {
		t.Fatal(err)
	}
	n := node.New(db.Pool, node.Config{Namespace: ns})
	var items []*outbox.Item
	n.Add(outbox.HandleLeased("pay", func(_ context.Context, m *outbox.Item) error {
		if items = append(items, m); len(items) == 1 {
			return nexus.Reject("no")
		}
		return nil
	}))
	for _, then := range []string{"select core.replay_dead_letter(dead_letter_id) from core.dead_letters where body = $1 and body_type = $2", ""} {
		if _, err := n.Work(t.Context(), 10); err != nil {
			t.Fatal(err)
		}
		if then != "" {
			db.Exec(then, sent.Body, sent.Type)
		}
	}
	if len(items) != 2 {
		t.Fatalf("%d came", len(items))
	}
	for i, m := range items {
		if !bytes.Equal(m.Body, all) || m.Type != sent.Type || m.Key != sent.Key || m.Lane != first.Lane || m.Seq != int64(i+1) {
			t.Errorf("message %d came as %d bytes, %q, %q, in lane %d as number %d", i+1, len(m.Body), m.Type, m.Key, m.Lane, m.Seq)
		}
	}
}
