package nexussql_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// planNode is a node of EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON).
type planNode struct {
	Type    string     `json:"Node Type"`
	Table   string     `json:"Relation Name"`
	Index   string     `json:"Index Name"`
	Hit     int        `json:"Shared Hit Blocks"`
	Read    int        `json:"Shared Read Blocks"`
	Rows    float64    `json:"Actual Rows"`
	Loops   float64    `json:"Actual Loops"`
	Subplan string     `json:"Subplan Name"`
	Plans   []planNode `json:"Plans"`
}

// scans lists the nodes that read scheduled_events.
func (p planNode) scans() []planNode {
	var found []planNode
	if p.Table == "scheduled_events" && strings.Contains(p.Type, "Scan") {
		found = append(found, p)
	}
	for _, child := range p.Plans {
		found = append(found, child.scans()...)
	}
	return found
}

// claimScan runs core.fire_due_events and returns how its claim really read the table: auto_explain tells it of statements
// inside functions. The firing is rolled back.
func claimScan(t *testing.T, db *dbtest.DB, limit int) planNode {
	t.Helper()
	config := db.Owner.Config().ConnConfig.Copy()
	var plans []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { plans = append(plans, n.Message) }
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on;
		set auto_explain.log_analyze = on; set auto_explain.log_buffers = on; set auto_explain.log_format = json; set auto_explain.log_level = notice; begin`,
		pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	var fired int
	if err := conn.QueryRow(t.Context(), `select core.fire_due_events($1)`, limit).Scan(&fired); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `rollback`); err != nil {
		t.Fatal(err)
	}
	if fired != limit {
		t.Fatalf("%d events fired, want %d", fired, limit)
	}
	for _, message := range plans {
		_, text, _ := strings.Cut(message, "plan:")
		var plan struct {
			Query string   `json:"Query Text"`
			Plan  planNode `json:"Plan"`
		}
		if json.Unmarshal([]byte(text), &plan) != nil || !strings.Contains(strings.Join(strings.Fields(plan.Query), " "), "limit p_limit for update skip locked") {
			continue
		}
		scans := plan.Plan.scans()
		if len(scans) != 1 {
			t.Fatalf("%d scans of the table in the claim, want 1: %s", len(scans), text)
		}
		return scans[0]
	}
	t.Fatalf("the claim is not among %d statements", len(plans))
	return planNode{}
}

// O7: a claim costs by what it claims, not by the tombstones; and while an old snapshot keeps dead entries in the index, by what was
// due since the floor.
// holds: O7 (blocks and plan that the claim really had), others-held (one-shots)
func TestTheClaimOfDueEventsStaysFlat(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	const claimed = 500
	insert := func(n int, due, rest string) {
		t.Helper()
		db.Exec(`insert into core.scheduled_events (schedule_id, namespace, fire_at, due_at, event_type, payload, message_timestamp, created_at, content_hash, payload_bytes,
				principal, status, event_id, finished_at)
			select gen_random_uuid(), 'shop', d, d, 'x', '1', d, d, '', 1, 'me', `+rest+`
			  from generate_series(1, $1::int) g cross join lateral (select `+due+` as d) x`, n, db.Now())
	}
	// A million rows without what the claim has no use for.
	db.Exec(`drop index core.scheduled_events_namespace_idx, core.scheduled_events_finished_at_idx`)
	db.Exec(`alter table core.scheduled_events set unlogged, disable trigger all`)
	const pending, tombstone = `'pending', null::bigint, null::timestamptz`, `'appended', g, d`
	insert(1000, `$2::timestamptz - interval '1 minute' + g * interval '1 ms'`, pending)
	db.Exec(`analyze core.scheduled_events`)
	db.Exec(`update core_private.fire_floor set floor = core.now() - interval '5 minutes', swept_at = core.now()`)
	alone := claimScan(t, db, claimed)

	insert(1_000_000, `$2::timestamptz - g * interval '1 s'`, tombstone)
	db.Exec(`vacuum analyze core.scheduled_events`)
	db.Exec(`update core_private.fire_floor set floor = core.now() - interval '5 minutes', swept_at = core.now()`)
	among := claimScan(t, db, claimed)
	for name, scan := range map[string]planNode{"alone": alone, "among a million tombstones": among} {
		if scan.Index != "scheduled_events_due_at_idx" {
			t.Errorf("%s: the claim reads by %q (%s), not by the partial index", name, scan.Index, scan.Type)
		}
	}
	t.Logf("blocks for %d events: %d alone, %d among a million tombstones", claimed, alone.Hit+alone.Read, among.Hit+among.Read)
	if blocks, most := among.Hit+among.Read, 2*(alone.Hit+alone.Read); blocks > most {
		t.Errorf("a claim among tombstones reads %d blocks, more than %d", blocks, most)
	}

	// An old snapshot, and fifty thousand that have fired since.
	old, err := db.Owner.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Rollback(context.Background()) }()
	insert(50_000, `$2::timestamptz - interval '1 hour' + g * interval '1 ms'`, pending)
	if _, err := old.Exec(t.Context(), `select count(*) from core.scheduled_events where status = 'pending'`); err != nil {
		t.Fatal(err)
	}
	db.Exec(`update core.scheduled_events set status = 'appended', event_id = 1, finished_at = due_at where status = 'pending' and due_at < core.now() - interval '30 minutes'`)
	db.Exec(`update core_private.fire_floor set floor = core.now() - interval '5 minutes', swept_at = core.now()`)
	held := claimScan(t, db, claimed)
	db.Exec(`update core_private.fire_floor set swept_at = '-infinity'`)
	sweep := claimScan(t, db, claimed)
	t.Logf("with a snapshot held: %d blocks from the floor, %d without one", held.Hit+held.Read, sweep.Hit+sweep.Read)
	if blocks, most := held.Hit+held.Read, 2*(alone.Hit+alone.Read); blocks > most {
		t.Errorf("a claim from the floor reads %d blocks, more than %d", blocks, most)
	}
	if blocks := sweep.Hit + sweep.Read; blocks < 20*(held.Hit+held.Read) {
		t.Errorf("a claim of everything reads only %d blocks: no dead entries were there to be left out", blocks)
	}
}
