package nexussql_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// deadLetters gives a namespace n dead letters of consumer default.
func deadLetters(db *dbtest.DB, namespace string, n int) {
	db.Exec(`insert into core.dead_letters (namespace, consumer, event_type, source_kind, source_ref, payload, envelope, attempts, failed_at, reason)
		select $1::text, 'default', 'a', 'delivery', to_jsonb(gen_random_uuid()), to_jsonb(g), '{"eventType": "a"}', 1, core.now(), 'r' from generate_series(1, $2::int) g`, namespace, n)
}

// A dropped namespace takes its queues first and then its dead letters; who moves one of these needs the queues afterwards. Somebody on the
// queue holds up the drop, so that both are at work when he leaves.
func TestMovesAndADropDoNotWaitForEachOther(t *testing.T) {
	db := dbtest.New(t)
	for _, c := range []struct{ move, want string }{
		{`select core.replay_dead_letter(%)`, "NX105"},
		{`select core.discard_dead_letter(%, 'x')`, "NX105"},
		{`select matched from core.replay_dead_letters('{"type": "a"}')`, ""},
		{`select matched from core.discard_dead_letters('{"namespace": "shop"}', 'x')`, ""},
		{`select core_private.expire_unresolved(10, 'infinity')`, ""},
	} {
		t.Run(c.move, func(t *testing.T) {
			db.Exec(`select core.create_namespace('shop', '{"expire_unresolved": "1 h"}')`)
			deadLetters(db, "shop", 3)
			db.Exec(`update core.dead_letters set failed_at = failed_at - interval '1 day', dlq_msg_id = dead_letter_id`)
			id := dbtest.Get[string](db, `select max(dead_letter_id)::text from core.dead_letters`)
			holder, err := db.Owner.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = holder.Rollback(context.Background()) }()
			if _, err := holder.Exec(t.Context(), `lock table pgmq.q_core_events_shop, pgmq.q_core_events_shop_dlq in row exclusive mode`); err != nil {
				t.Fatal(err)
			}
			drop := waiting(t, db, `select core.drop_namespace('shop', 'shop', true)`)
			move := waiting(t, db, strings.ReplaceAll(c.move, "%", id))
			if err := holder.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := <-drop; err != nil {
				t.Errorf("the drop: %v", err)
			}
			if err := <-move; code(err) != c.want || c.want == "" && err != nil {
				t.Errorf("the move: %v", err)
			}
		})
	}
}

// waiting runs a statement in a session of its own, and returns once that waits for a lock.
func waiting(t *testing.T, db *dbtest.DB, sql string) <-chan error {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), db.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Exec(context.Background(), sql, pgx.QueryExecModeSimpleProtocol)
		ended <- err
	}()
	db.Wait(`select exists (select from pg_stat_activity where pid = $1 and wait_event_type = 'Lock')`, conn.PgConn().PID())
	return ended
}

// Who waited for the row is judged by the clock of when he has it, and not of when he asked.
// holds: DL1 (the lock comes before the clock)
func TestAClaimThatEndsWhileItsHolderWaits(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, move := range []string{
		`select core.replay_dead_letter(%, null, 'TOKEN')`, `select core.discard_dead_letter(%, 'x', 'TOKEN')`, `select core.reject_dead_letter(%, 'TOKEN', 'x')`,
	} {
		t.Run(move, func(t *testing.T) {
			db.SetNow(start)
			deadLetters(db, "shop", 1)
			id := dbtest.Get[string](db, `select max(dead_letter_id)::text from core.dead_letters`)
			token := dbtest.Get[string](db, `select claim_token::text from core.claim_dead_letters(jsonb_build_object('ids', jsonb_build_array($1::bigint)), '1 min')`, id)
			holder, err := db.Owner.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = holder.Rollback(context.Background()) }()
			if _, err := holder.Exec(t.Context(), `select from core.dead_letters where dead_letter_id = $1::bigint for update`, id); err != nil {
				t.Fatal(err)
			}
			late := waiting(t, db, strings.NewReplacer("%", id, "TOKEN", token).Replace(move))
			db.SetNow(start.Add(time.Minute))
			if err := holder.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := <-late; code(err) != "NX303" {
				t.Errorf("a holder whose time was over when he got the row: %v", err)
			}
		})
	}
}

// Dead letters of a consumer are replayed while that is dropped by force: either comes first, and neither ends in a deadlock.
func TestReplaysAndADroppedConsumer(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	for range 10 {
		db.Exec(`select core.create_consumer('shop', 'mailer', '{a}')`)
		deadLetters(db, "shop", 20)
		db.Exec(`update core.dead_letters set consumer = 'mailer' where resolved_at is null`)
		for _, err := range atOnce(t, db, 3, func(ctx context.Context, conn *pgx.Conn, i int) error {
			_, err := conn.Exec(ctx, []string{
				`select core.drop_consumer('shop', 'mailer', true)`, `select core.replay_dead_letters('{"namespace": "shop"}', '{"rate": 1}')`, `select core.discard_dead_letters('{"namespace": "shop", "limit": 5}', 'x')`,
			}[i])
			return err
		}) {
			if err != nil {
				t.Error(err)
			}
		}
		db.Exec(`delete from core.dead_letters; select core.tick()`)
	}
}
