package deadletter_test

import (
	"testing"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/queue"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func newDB(t *testing.T, namespaces ...string) *dbtest.DB {
	t.Helper()
	db := dbtest.New(t)
	for _, ns := range namespaces {
		db.Namespace(ns)
	}
	return db
}

// bury emits an event of each type and rejects it for reason, as a node does. It returns the ids of the dead letters in that
// order.
func bury(t *testing.T, db *dbtest.DB, ns nexus.Namespace, reason string, types ...string) (ids []int64) {
	t.Helper()
	for i, eventType := range types {
		r, err := queue.Emitter{Namespace: ns}.Emit(t.Context(), db.Pool, eventType, map[string]int{"n": i}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if msg := reject(t, db, ns, reason); msg != r.MessageID {
			t.Fatalf("rejected message %d, not %d", msg, r.MessageID)
		}
		ids = append(ids, dbtest.Get[int64](db, "select dead_letter_id from core.dead_letters where event_uid = $1", r.EventUID))
	}
	return ids
}

// reject claims the one message of the main queue and rejects it.
func reject(t *testing.T, db *dbtest.DB, ns nexus.Namespace, reason string) (msg int64) {
	t.Helper()
	queueName, ct, at := "core_events_"+string(ns), 0, time.Time{}
	err := db.Pool.QueryRow(t.Context(), `select msg_id, read_ct, last_read_at from core_node.claim($1, '{*}', '{0}', 1, '1 minute') where outcome = 'claimed'`,
		queueName).Scan(&msg, &ct, &at)
	if err != nil {
		t.Fatalf("claim: %v", err)
	}
	var outcome string
	err = db.Pool.QueryRow(t.Context(), `select outcome from core_node.settle($1, 'test', '{}', '{}', '{}', jsonb_build_array(jsonb_build_object(
		'id', $2::bigint, 'ct', $3::int, 'at', $5::timestamptz, 'action', 'reject', 'reason', $4::text, 'error', 'boom')))`, queueName, msg, ct, reason, at).Scan(&outcome)
	if err != nil || outcome != "buried" {
		t.Fatalf("settle: %s, %v", outcome, err)
	}
	return msg
}

// resolutions maps each dead letter that has ended to how it did.
func resolutions(t *testing.T, db *dbtest.DB) map[int64]string {
	t.Helper()
	return dbtest.Get[map[int64]string](db, "select coalesce(json_object_agg(dead_letter_id, resolution), '{}') from core.dead_letters where status = 'resolved'")
}

func waiting(db *dbtest.DB, ns string) int64 {
	return dbtest.Get[int64](db, "select count(*) from pgmq.q_core_events_"+ns)
}
