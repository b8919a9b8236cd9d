package nexussql_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// Who fetches from a lane must be the first in its transaction, so no script of one transaction can tell what lanes promise. This story has as many
// as it needs; what does not hold is said, and not failed at once, since mutants want to be told from it.
type laneStory struct {
	t    *testing.T
	db   *dbtest.DB
	pool *pgxpool.Pool
	says []string
}

func (s *laneStory) want(what string, got, want any) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.says = append(s.says, fmt.Sprintf("%s: got %v, want %v", what, got, want))
	}
}

// code is that of an error.
func (s *laneStory) code(err error) string {
	if e, is := errors.AsType[interface {
		error
		SQLState() string
	}](err); is {
		return e.SQLState()
	}
	return fmt.Sprint(err)
}

func (s *laneStory) must(err error) {
	s.t.Helper()
	if err != nil {
		panic(err)
	}
}

func (s *laneStory) exec(sql string, args ...any) {
	_, err := s.db.Owner.Exec(s.t.Context(), sql, args...)
	s.must(err)
}

// lane is that of a new queue of one.
func (s *laneStory) lane(queue, options string) (id int32) {
	s.exec("select core.outbox_register_queue('shop', $1, 1, $2)", queue, options)
	s.must(s.db.Owner.QueryRow(s.t.Context(), "select lane_id from core.lane_status where queue = $1", queue).Scan(&id))
	return id
}

func (s *laneStory) enqueue(queue string, bodies ...string) {
	for _, b := range bodies {
		s.exec("select core.outbox_enqueue('shop', $1, convert_to($2, 'UTF8'), 't', 'k')", queue, b)
	}
}

// got is what a fetch returned.
type got struct {
	token   *string
	from    int64
	bodies  []string
	ids     []int64
	attempt int
}

func (s *laneStory) fetchBy(ctx context.Context, lane int32) (g got, err error) {
	rows, err := s.pool.Query(ctx, `select token::text, seq, message_id, convert_from(body, 'UTF8'), attempt from core_node.fetch_lane($1, 'n', 50, '10 s')`, lane)
	if err != nil {
		return g, err
	}
	var seq, id int64
	var body string
	var attempt int
	_, err = pgx.ForEachRow(rows, []any{&g.token, &seq, &id, &body, &attempt}, func() error {
		if len(g.bodies) == 0 {
			g.from, g.attempt = seq-1, attempt
		}
		g.bodies, g.ids = append(g.bodies, body), append(g.ids, id)
		return nil
	})
	return g, err
}

func (s *laneStory) fetch(lane int32) got {
	g, err := s.fetchBy(s.t.Context(), lane)
	s.must(err)
	return g
}

type execs interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// settle says that the first done messages went well, and what became of the next.
func (s *laneStory) settle(q execs, lane int32, g got, done int, verdict string) error {
	var last *int64
	if done > 0 {
		last = &g.ids[done-1]
	}
	_, err := q.Exec(s.t.Context(), "select core_node.settle_lane($1, 'n', $2::text::uuid, $3, $4, $5, $6, 'why', 'error', '0')", lane, g.token, g.from, done, last, verdict)
	return err
}

// all acknowledges whatever there is, and returns it.
func (s *laneStory) all(lane int32) (bodies []string) {
	for range 10 {
		g := s.fetch(lane)
		if len(g.bodies) == 0 {
			break
		}
		bodies = append(bodies, g.bodies...)
		s.must(s.settle(s.pool, lane, g, len(g.bodies), "release"))
	}
	return bodies
}

// tell has all that happens to lanes, and returns what is not as it should be.
func tellOfLanes(t *testing.T, db *dbtest.DB) (says []string) {
	t.Helper()
	s := &laneStory{t: t, db: db, pool: db.Owner}
	defer func() {
		if r := recover(); r != nil {
			says = append(s.says, fmt.Sprint(r))
		}
	}()
	db.SetNow(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	s.exec("select core.create_namespace('shop')")
	s.exec("create or replace function core_private.lane_partition_size() returns bigint language sql immutable set search_path = pg_catalog, pg_temp as 'select 10::bigint'")
	s.leases()
	s.verdicts()
	s.snapshots()
	s.upkeep()
	return s.says
}

func (s *laneStory) leases() {
	lane := s.lane("leases", `{"retry": {"max_attempts": -1}}`)
	s.enqueue("leases", "1")
	first := s.fetch(lane)
	s.want("held by one", s.fetch(lane).bodies, []string(nil))
	s.db.Advance(20 * time.Second)
	s.want("a settlement after the lease", s.code(s.settle(s.pool, lane, first, 1, "release")), "NX301")
	s.fetch(lane) // the first holder is late: an attempt, and its delay
	s.db.Advance(20 * time.Second)
	second := s.fetch(lane)
	s.want("a death is an attempt", fmt.Sprint(second.bodies, second.attempt), "[1] 2")
	s.want("a settlement by who was overtaken", s.code(s.settle(s.pool, lane, first, 1, "release")), "NX301")
	s.must(s.settle(s.pool, lane, second, 1, "release"))
	tx, err := s.pool.Begin(s.t.Context())
	s.must(err)
	defer func() { _ = tx.Rollback(s.t.Context()) }()
	_, err = tx.Exec(s.t.Context(), "select pg_current_xact_id()")
	s.must(err)
	_, err = tx.Exec(s.t.Context(), "select core_node.fetch_lane($1, 'n', 50, '10 s')", lane)
	s.want("a fetch that is not the first of its transaction", s.code(err), "NX224")
}

func (s *laneStory) verdicts() {
	lane := s.lane("verdicts", `{"retry": {"max_attempts": 3}}`)
	s.enqueue("verdicts", "1", "2", "3")
	s.must(s.settle(s.pool, lane, s.fetch(lane), 1, "retry"))
	again := s.fetch(lane)
	s.want("a retry stays at its message", fmt.Sprint(again.bodies, again.from, again.attempt), "[2] 1 2")
	tx, err := s.pool.Begin(s.t.Context())
	s.must(err)
	s.must(s.settle(tx, lane, again, 0, "reject"))
	s.must(tx.Rollback(s.t.Context()))
	s.want("a rejection that was rolled back", dbtest.Get[string](s.db, "select (select count(*) from core.dead_letters) || ' ' || seq from core.lane_status where queue = 'verdicts'"), "0 1")
	s.must(s.settle(s.pool, lane, again, 0, "reject"))
	s.want("a rejection", dbtest.Get[string](s.db, "select (select coalesce(string_agg(lane_seq::text, ' '), 'none') from core.dead_letters) || ' ' || seq from core.lane_status where queue = 'verdicts'"), "2 2")
	s.want("what is behind goes on", s.all(lane), []string{"3"})

	lane = s.lane("halts", `{"retry": {"max_attempts": 2}, "exhausted": "halt"}`)
	s.enqueue("halts", "1", "2")
	s.must(s.settle(s.pool, lane, s.fetch(lane), 0, "retry"))
	s.must(s.settle(s.pool, lane, s.fetch(lane), 0, "retry"))
	s.want("a lane that halts", s.fetch(lane).bodies, []string(nil))
	s.want("and is no dead letter", dbtest.Get[int](s.db, "select count(*) from core.dead_letters"), 1)
}

func (s *laneStory) snapshots() {
	ctx := s.t.Context()
	lane := s.lane("snapshots", "{}")
	open := func(body string) (tx pgx.Tx, xid int64) {
		tx, err := s.pool.Begin(ctx)
		s.must(err)
		s.must(tx.QueryRow(ctx, "select pg_current_xact_id()::text::bigint from core.outbox_enqueue('shop', 'snapshots', convert_to($1, 'UTF8'), 't', 'k')", body).Scan(&xid))
		return tx, xid
	}
	// One that commits late, and is listed as running.
	late, _ := open("late")
	s.enqueue("snapshots", "early")
	s.want("what has committed", s.all(lane), []string{"early"})
	lag := func() int { return dbtest.Get[int](s.db, "select lag from core.lane_status where queue = 'snapshots'") }
	s.want("the lag before it commits", lag(), 0)
	s.must(late.Commit(ctx))
	s.want("the lag with what commits late", lag(), 1)
	s.want("what commits late", s.all(lane), []string{"late"})

	// One that is beyond the end of the snapshot: nobody who began after it has ended, in no database of the server, so it takes some attempts.
	for i, found := 0, false; i < 200 && !found; i++ {
		tx, xid := open("beyond")
		g := s.fetch(lane)
		s.want("what has not committed", g.bodies, []string(nil))
		found = dbtest.Get[int64](s.db, "select pg_snapshot_xmax(done)::text::bigint from core_private.lane_now($1)", lane) <= xid
		s.must(tx.Commit(ctx))
		s.want("the lag with what was beyond the snapshot", lag(), 1)
		s.want("what was beyond the snapshot", s.all(lane), []string{"beyond"})
	}

	// One that commits while the fetch waits for the lane: its id is beyond the floor, and the snapshot sees it.
	holder, err := s.pool.Begin(ctx)
	s.must(err)
	_, err = holder.Exec(ctx, "select core_private.lock_lane($1)", lane)
	s.must(err)
	fetched := make(chan got, 1)
	failed := make(chan error, 1)
	go func() {
		g, err := s.fetchBy(ctx, lane)
		failed <- err
		fetched <- g
	}()
	s.db.Wait("select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ~ 'fetch_lane')")
	s.enqueue("snapshots", "meanwhile")
	s.must(holder.Rollback(ctx))
	s.must(<-failed)
	g := <-fetched
	s.want("what committed meanwhile", g.bodies, []string{"meanwhile"})
	if len(g.bodies) > 0 {
		s.must(s.settle(s.pool, lane, g, 1, "release"))
	}
	s.enqueue("snapshots", "next")
	s.want("once", s.all(lane), []string{"next"})
}

func (s *laneStory) upkeep() {
	ctx := s.t.Context()
	lane := s.lane("partitions", "{}")
	s.exec("select core_private.maintain_lanes()")
	var bodies []string
	for i := range 60 {
		bodies = append(bodies, fmt.Sprint(i))
	}
	s.exec("select core.outbox_enqueue_batch('shop', 'partitions', array(select convert_to(x, 'UTF8') from unnest($1::text[]) x), array_fill('t'::text, array[60]), array_fill('k'::text, array[60]))", bodies)
	s.exec("update core_private.lane_partitions set xid = '3' where upper <= (select max(id) from core_private.lane_messages)")
	s.exec("select core_private.maintain_lanes()")
	s.want("what nobody has had is still there", dbtest.Get[int](s.db, "select count(*) from core_private.lane_messages where lane_id = $1", lane), 60)
	s.want("all of it", s.all(lane), bodies)

	s.enqueue("partitions", "foreign")
	s.exec("update core_private.lanes set cluster = 1, ver = ver + 1 where lane_id = $1", lane)
	_, err := s.fetchBy(ctx, lane)
	s.want("a lane of another server", s.code(err), "NX509")
}

// holds: LN2, LN3, LN5, LN6, LN7 (halt), LN8
func TestLanesKeepTheirPromises(t *testing.T) {
	t.Parallel()
	for _, s := range tellOfLanes(t, dbtest.New(t)) {
		t.Error(s)
	}
}

// laneMutants take a fence of lanes out, as those of scripts do.
var laneMutants = []mutant{
	{breaks: "LN2 transactions that were running", function: "core_private.late_in_lane", replace: []string{"where p_seen is null or pg_visible_in_snapshot(x, p_seen)", "where false"}},
	{breaks: "LN2 those between a snapshot's end and the reader", function: "core_private.late_in_lane", replace: []string{"generate_series(v_from, v_next - 1)", "generate_series(1, 0)"}},
	{breaks: "LN10 what is late in the lag", function: "core_private.lane_states", replace: []string{"select x from pg_snapshot_xip(n.done) x", "select x from pg_snapshot_xip(n.done) x where false"}},
	{breaks: "LN10 what is beyond the snapshot in the lag", function: "core_private.lane_states", replace: []string{"n.done_next::text::bigint - 1) g", "0) g"}},
	{breaks: "LN2 what is done is not read again", function: "core_private.read_lane", replace: []string{"and not pg_visible_in_snapshot(m.xid, p_lane.done)", ""}},
	{breaks: "LN3 lanes of another server", function: "core_node.fetch_lane", replace: []string{"if core_private.of_another_server(v_lane, core_private.cluster_id()) then", "if false then"}},
	{breaks: "LN2 the first of its transaction", function: "core_private.require_first", replace: []string{"if pg_current_xact_id_if_assigned() is not null then", "if false then"}},
	{breaks: "LN5 the token", function: "core_private.require_lane_held", replace: []string{"p_lane.token is distinct from p_token or", ""}},
	{breaks: "LN5 the lease", function: "core_private.require_lane_held", replace: []string{"or p_lane.locked_until <= p_now", ""}},
	{breaks: "LN5 one holder", function: "core_node.fetch_lane", replace: []string{"elsif v_lane.token is not null and v_lane.locked_until > v_now then", "elsif false then"}},
	{breaks: "LN5 a death is an attempt", function: "core_node.fetch_lane", replace: []string{"elsif v_lane.handed > 0 then", "elsif false then"}},
	{breaks: "LN6 the cursor on retry", function: "core_node.settle_lane", replace: []string{"v_lane := core_private.ack_lane(v_lane, p_done, p_last_id);", ""}},
	{breaks: "LN6 attempts count", function: "core_private.fail_head", replace: []string{"lane.attempts := lane.attempts + 1;", ""}},
	{breaks: "LN6 a dead letter with the cursor", function: "core_node.settle_lane", replace: []string{"v_lane := core_private.bury_head(v_lane, v_owner, coalesce(p_reason, 'rejected'), p_error, p_node);", "v_lane.handed := 1; v_lane := core_private.ack_lane(v_lane, 1, v_lane.pos + 1);"}},
	{breaks: "LN7 a lane halts", function: "core_private.fail_head", replace: []string{"if p_owner.halts then", "if false then"}},
	{breaks: "LN7 and stands", function: "core_node.fetch_lane", replace: []string{"and v_lane.state = 'active' and", "and"}},
	{breaks: "LN8 a partition with something left", function: "core_private.unseen_in", replace: []string{"if v_unseen then", "if false then"}},
}

// All with NEXUS_TEST_LONG, or those that -run names; else a quarter, another each day.
func TestTheStoryOfLanesNoticesWhatIsTakenOut(t *testing.T) {
	if testing.Short() {
		t.Skip("tells the story once for each")
	}
	all := os.Getenv("NEXUS_TEST_LONG") != "" || strings.Contains(flag.Lookup("test.run").Value.String(), "/")
	for i, m := range laneMutants {
		if !all && i%4 != time.Now().YearDay()%4 {
			continue
		}
		t.Run(m.breaks, func(t *testing.T) {
			db := dbtest.New(t)
			db.Exec(breakFunction(m.function, m.replace))
			says := tellOfLanes(t, db)
			if len(says) == 0 {
				t.Error("the story passes without it")
			}
			t.Log(says)
		})
	}
}

// Keys that were stored among those of events are moved, and what only looks so is left.
// holds: LN1 (dedupe keys)
func TestStoredKeysOfLanesAreParted(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	moves, err := os.ReadFile("migrations/0043_part_keys_of_lanes.sql")
	if err != nil {
		t.Fatal(err)
	}
	db.Exec(`select core.create_namespace('shop'), core.outbox_register_queue('shop', 'pay', 1), core.emit('shop', 'x', '1', '{"dedupe_key": "outbox shop pay event"}');
		insert into core.event_keys (namespace, key, event_id, event_uid, expires_at)
		select 'shop', 'outbox shop ' || k, nextval('core.event_id_seq'), gen_random_uuid(), core.now() + interval '1 h' from unnest(array['pay a b', 'gone a']) k`)
	db.Exec(string(moves))
	if got := strings.Join(column(t, db, `select namespace || '/' || key from core.event_keys order by 1`), ", "); got != "outbox shop pay/a b, shop/outbox shop gone a, shop/outbox shop pay event" {
		t.Errorf("keys are %s", got)
	}
	if !dbtest.Get[bool](db, `select duplicate from core.outbox_enqueue('shop', 'pay', 'x', 't', null, 'a b')`) {
		t.Error("a key of before is forgotten")
	}
}

// holds: LN7 (skips)
// Of two operators who skip the same message one skips it, and the message behind it, which nobody has tried, stays where it is. Which message of a
// lane has failed is said as soon as it is known, also while the rest of its batch has not been handled.
func TestSkippedOnce(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Exec(`select core.create_namespace('shop'), core.outbox_register_queue('shop', 'pay', 1);
		select core.outbox_enqueue('shop', 'pay', convert_to(n::text, 'UTF8'), 't') from generate_series(1, 8) n`)
	db.Exec(`select core_node.fetch_lane((select lane_id from core.lane_status), 'n', 8, '10 s');
		update core_private.lanes set attempts = 4, suspect_until = 8, last_error = 'boom', token = null, locked_until = null where token is not null`)
	if why := dbtest.Get[string](db, "select why from core.lane_status"); why != "message 1 failed" {
		t.Error(why)
	}
	skip := "select core.lane_skip('shop', 'pay', 0, 'booked by hand'%s)"
	db.Exec(fmt.Sprintf(skip, ""))
	for _, seq := range []string{"", ", 1", ", 3"} {
		if _, err := db.Owner.Exec(t.Context(), fmt.Sprintf(skip, seq)); !strings.Contains(fmt.Sprint(err), "NX206") {
			t.Errorf("again%s: %v", seq, err)
		}
	}
	db.Exec(fmt.Sprintf(skip, ", 2"))
	db.Exec("select core.lane_pause('shop', 'pay', 0)")
	db.Exec(fmt.Sprintf(skip, ""))
	if got := dbtest.Get[string](db, "select string_agg(lane_seq || ' ' || last_error, ', ' order by lane_seq) from core.dead_letters"); got !=
		"1 boom, 2 booked by hand, 3 booked by hand" {
		t.Error(got)
	}
}
