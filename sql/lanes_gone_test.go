package nexussql_test

import (
	"fmt"
	"testing"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// The lanes of a node that is gone are free when it counts as lost, is forgotten, or comes back under its id, however long their leases are; what it had
// in hand has failed, since it may have been what killed it. An operator takes a lane from whom he likes, which uses no attempt. Whoever had it and
// comes back changes nothing by any call. Other nodes keep theirs.
// holds: LN5 (nodes that are gone, released lanes), LN6 (released lanes), N2 (lanes)
func TestLanesOfNodesThatAreGone(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	s := &laneStory{t: t, db: db, pool: db.Owner}
	defer func() {
		for _, say := range s.says {
			t.Error(say)
		}
	}()
	text := func(sql string, args ...any) string { t.Helper(); return dbtest.Get[string](db, sql, args...) }
	s.exec("update nexus_test.clock set frozen = clock_timestamp()")
	s.exec("select core.create_namespace('shop')")
	register := `select core_node.register_node('shop', $1, true, '{}', '{"host": "h"}')`
	held := "select coalesce(locked_by, '-') || ' ' || seq from core.lane_status where queue = $1"
	for i, c := range []struct {
		name, gone string
		attempt    int // of the message that was in hand
	}{
		{"reaped", "update nexus_test.clock set shift = shift + '91 s'; select core_node.heartbeat('other', (select incarnation from core.nodes where node_id = 'other'), 'active'); select core_node.reap_nodes()", 2},
		{"forgotten", "select core.forget_node('n')", 2},
		{"back", `update core.nodes set session_pid = 0 where node_id = 'n'; select core_node.register_node('shop', 'n', true, '{}', '{"host": "h"}')`, 2},
		{"released", "select core.lane_release('shop', 'released', 0, 'ticket 4711')", 1},
	} {
		lane := s.lane(c.name, `{"retry": {"max_attempts": 9, "base": "1 ms", "max": "1 ms"}}`)
		kept := s.lane(fmt.Sprint("kept", i), "{}")
		s.enqueue(c.name, "1", "2")
		s.enqueue(fmt.Sprint("kept", i), "1")
		s.exec("delete from core.nodes")
		for _, node := range []string{"n", "other"} {
			s.exec(register, node)
		}
		s.exec("select core_node.fetch_lane($1, 'other', 1, '10 h')", kept)
		var token string
		s.must(db.Owner.QueryRow(t.Context(), "select token::text from core_node.fetch_lane($1, 'n', 1, '10 h')", lane).Scan(&token))
		old := got{token: &token, ids: []int64{dbtest.Get[int64](db, "select min(id) from core_private.lane_messages where lane_id = $1", lane)}}
		s.want(c.name+": held", text(held, c.name), "n 0")
		s.exec(c.gone)
		s.want(c.name+": free", text(held, c.name), "- 0")
		s.want(c.name+": due", text("select string_agg(lane_id::text, ' ') from core_node.lanes_due('shop', $1)", c.name), fmt.Sprint(lane))
		s.want(c.name+": of another node", text(held, fmt.Sprint("kept", i)), "other 0")

		// Who had it is back, and the clock may have been set back meanwhile.
		version := "select md5(l::text) from core_private.lanes l where lane_id = $1"
		before := text(version, lane)
		for _, back := range []string{"0 s", "-1 h"} {
			s.exec("update nexus_test.clock set shift = shift + $1::text::interval", back)
			for _, verdict := range []string{"retry", "reject", "release"} {
				s.want(c.name+": "+verdict, s.code(s.settle(db.Owner, lane, old, 0, verdict)), "NX301")
			}
			s.want(c.name+": done", s.code(s.settle(db.Owner, lane, old, 1, "release")), "NX301")
			_, err := db.Owner.Exec(t.Context(), "select core_node.fetch_lane($1, 'n', 1, '10 h', $2::text::uuid, 0, 1, $3)", lane, token, old.ids[0])
			s.want(c.name+": the next ones", s.code(err), "NX301")
			s.want(c.name+": renewed", text("select core_node.extend_lanes(array[$1::int], array[$2::text::uuid], '10 h')::text", lane, token), fmt.Sprintf("{%d}", lane))
			s.want(c.name+": given back", text("select core_node.give_back_lanes('shop', $1, array[$2::text::uuid])::text", c.name, token), "0")
			s.exec("update nexus_test.clock set shift = shift - $1::text::interval", back)
		}
		s.want(c.name+": as it was", text(version, lane), before)

		s.exec("update nexus_test.clock set shift = shift + '1 s'")
		s.fetch(lane) // notes the failure, if it is one, which has a pause
		s.exec("update core_private.lanes set token = null, locked_until = null, handed = 0 where lane_id = $1", lane)
		s.exec("update nexus_test.clock set shift = shift + '1 s'")
		s.want(c.name+": the attempt", s.fetch(lane).attempt, c.attempt)
	}
	s.want("the audit log", text("select reason || ' ' || target || ' ' || (details ->> 'lane') || ' ' || (details ->> 'node') from core.audit_log where action = 'lane_release'"), "ticket 4711 released 0 n")
	s.want("the audit log of one forgotten", text("select details ->> 'lanes' from core.audit_log where action = 'forget_node'"), "1")
	s.exec("select core.lane_release('shop', 'released', 0)")
	s.want("nobody holds it", text("select coalesce(core.lane_release('shop', 'released', 0), 'nobody')"), "nobody")

	// A settlement that is under way is waited for by an operator, and not by upkeep.
	lane := s.lane("settling", "{}")
	s.enqueue("settling", "1", "2")
	s.exec("update core.nodes set state = 'active', last_heartbeat = core.now() where node_id = 'n'")
	g := s.fetch(lane)
	tx, err := db.Owner.Begin(t.Context())
	s.must(err)
	s.must(s.settle(tx, lane, g, 2, "release"))
	s.want("forgotten beside", text("select core.forget_node('n')::text"), "true")
	s.must(tx.Commit(t.Context()))
	s.want("what was settled", text(held, "settling"), "- 2")
}

// A queue whose messages wait a minute and that nobody works says so: neither a live node that has a processor of it, nor whoever holds a lane, has let
// one go just now, or waits to be called. One that is idle, paused or worked says nothing.
// holds: LN10 (no processor), metrics (lanes without a processor)
func TestQueuesThatNobodyWorks(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	s := &laneStory{t: t, db: db, pool: db.Owner}
	const nobody = "no live node works the queue"
	why := func() string {
		t.Helper()
		return dbtest.Get[string](db, "select coalesce(string_agg(distinct why, ', '), '-') from core.lane_status where queue = 'pay'")
	}
	stranded := func() string {
		t.Helper()
		s.exec("update core_private.metric_samples set sampled_at = '-infinity'")
		return dbtest.Get[string](db, "select l ->> 'stranded' from jsonb_array_elements(core_node.metrics_sample('shop') -> 'lanes') l where l ->> 'consumer' = 'pay'")
	}
	pass := func(d string) { s.exec("update nexus_test.clock set shift = shift + $1::text::interval", d) }
	want := func(when, reason string, messages int) {
		t.Helper()
		if got := why(); got != reason {
			t.Errorf("%s: why is %s, want %s", when, got, reason)
		}
		if got := stranded(); got != fmt.Sprint(messages) {
			t.Errorf("%s: %s messages are stranded, want %d", when, got, messages)
		}
	}
	s.exec("update nexus_test.clock set frozen = clock_timestamp()")
	s.exec("select core.create_namespace('shop')")
	lane := s.lane("pay", `{"retry": {"max_attempts": 9, "base": "1 ms", "max": "1 ms"}}`)
	pass("2 min")
	want("idle", "-", 0)
	s.enqueue("pay", "1", "2")
	want("new", "-", 0)
	pass("61 s")
	want("left alone", nobody, 2)

	// Nodes: one that says it works the queue, of this life, as long as it lives.
	s.exec("select core_node.register_node('shop', 'n', true, '{}')")
	want("a node of something else", nobody, 2)
	s.exec("select core_node.replace_capabilities('n', incarnation, '{}', null, null, '{other}') from core.nodes")
	want("a node of another queue", nobody, 2)
	s.exec("select core_node.replace_capabilities('n', incarnation, '{}', null, null, '{pay}') from core.nodes")
	want("a node of this queue", "-", 0)
	s.exec("select core_node.heartbeat('n', incarnation, 'draining') from core.nodes")
	want("one that drains", nobody, 2)
	s.exec("update core.nodes set state = 'active'")
	want("one that is back", "-", 0)
	pass("91 s")
	want("one that died", nobody, 2)
	s.exec("update core_private.node_capabilities set kind = 'outbox', incarnation = gen_random_uuid(); update core.nodes set last_heartbeat = core.now()")
	want("an earlier life", nobody, 2)

	// Others, who say nothing.
	g := s.fetch(lane)
	want("held", "-", 0)
	pass("9 s")
	s.must(s.settle(db.Owner, lane, g, 0, "release"))
	pass("59 s")
	want("let go just now", "-", 0)
	pass("2 s")
	want("let go long ago", nobody, 2)
	g = s.fetch(lane)
	s.must(s.settle(db.Owner, lane, g, 0, "retry"))
	pass("1 s")
	want("a failure", "message 1 failed", 0)
	pass("61 s")
	want("a failure, and then nobody", nobody, 2)
	s.exec("select core_node.wait_for_wake(array[core_private.outbox_key('shop', 'pay')], '10 s')")
	want("somebody waits to be called", "message 1 failed", 0)
	pass("11 s")
	want("nobody does any more", nobody, 2)
	s.all(lane)
	pass("61 s")
	want("all done", "-", 0)
	s.enqueue("pay", "3")
	pass("61 s")
	other := s.lane("spare", "{}")
	s.enqueue("spare", "1")
	want("once more", nobody, 1)

	// Drained by a fetch, which leaves nothing behind but when it was.
	g = s.fetch(lane)
	s.exec("select core_node.fetch_lane($1, 'n', 1, '10 s', $2::text::uuid, $3, 1, $4)", lane, g.token, g.from, g.ids[0])
	s.enqueue("pay", "4")
	pass("59 s")
	s.exec("update core_private.lane_messages set created_at = core.now() - interval '2 min' where lane_id = $1", lane)
	want("a fetch that found no more", "-", 0)
	pass("2 s")
	want("and then nobody", nobody, 1)
	if due := dbtest.Get[int32](db, "select lane_id from core_node.lanes_due('shop', 'spare')"); due != other {
		t.Errorf("%d is due", due)
	}
	s.exec("select core.lane_pause('shop', 'pay', 0)")
	want("paused", "paused", 0)
	s.exec("select core.lane_resume('shop', 'pay', 0), core.pause_consumer('shop', 'pay')")
	want("the queue is paused", "the queue is paused", 0)
	s.exec("select core.resume_consumer('shop', 'pay')")
	want("resumed", nobody, 1)

	// What one lane tells is said of the others.
	s.exec("select core.outbox_register_queue('shop', 'two', 2)")
	s.exec("select core.outbox_enqueue('shop', 'two', 'x', 't', 'k' || n) from generate_series(1, 16) n")
	pass("61 s")
	both := "select string_agg(coalesce(why, '-'), ', ' order by lane) from core.lane_status where queue = 'two' and lag > 0"
	s.want("two lanes left alone", dbtest.Get[string](db, both), nobody+", "+nobody)
	lane = dbtest.Get[int32](db, "select lane_id from core.lane_status where queue = 'two' and lane = 1")
	s.must(s.settle(db.Owner, lane, s.fetch(lane), 0, "release"))
	pass("59 s")
	s.want("one was let go just now", dbtest.Get[string](db, both), "-, -")
	for _, say := range s.says {
		t.Error(say)
	}
}
