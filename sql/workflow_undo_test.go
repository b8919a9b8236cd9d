package nexussql_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// W4: a function undoes a step as its owner, in sessions of nexus_sql, with no node alive; which one says the definition, whatever the journal says.
// holds: W4 (in SQL, with no node alive)
func TestStepsAreUndoneInSQL(t *testing.T) {
	db := dbtest.New(t)
	a := writesHandlers(t, db, "flowapp")
	other := writesHandlers(t, db, "otherapp")
	for name, body := range map[string]string{
		"undo_pay":  `begin perform flowapp.note(concat_ws(' ', 'undo', p_event ->> 'step', p_event ->> 'result', p_event ->> 'attempt', session_user)); end`,
		"undo_bad":  `begin perform flowapp.note('bad'); raise exception 'no way'; end`,
		"undo_late": `begin create temporary table later (n int unique deferrable initially deferred) on commit drop; insert into later values (1), (1); end`,
	} {
		a.exec(t, a.function(name, body)+`; grant execute on function flowapp.`+name+`(jsonb) to nexus_guard`)
	}
	a.exec(t, `create function flowapp.never(jsonb) returns void language sql security definer set search_path = flowapp as 'select flowapp.note(''never'')'; grant execute on function flowapp.never(jsonb) to nexus_guard`)
	a.exec(t, `set quote_all_identifiers = on`) // which some roles have
	register := func(who author, function string) error {
		_, err := who.conn.Exec(t.Context(), `select core_node.register_workflow('flowapp', 'w', 1, jsonb_build_array(
			jsonb_build_object('name', 'pay', 'kind', 'step', 'undo', 'sql', 'function', $1::text), '{"name": "ship", "kind": "step"}'::jsonb))`, function)
		return err
	}
	var pg *pgconn.PgError
	if err := register(other, "flowapp.undo_pay(jsonb)"); !errors.As(err, &pg) || pg.Code != "42501" {
		t.Errorf("somebody else has registered the function: %v", err)
	}
	if err := register(a, "flowapp.nothing(jsonb)"); !errors.As(err, &pg) || pg.Code != "NX019" {
		t.Errorf("a function that is not there: %v", err)
	}
	// fails starts a run whose second step fails, and has nexus_sql at it until it is over.
	fails := func() string {
		t.Helper()
		var status string
		db.Exec(`do $$
			declare c record; begin
				perform core.start_workflow('flowapp', 'w');
				select * into c from core_node.claim_runs('flowapp', array(select def_id from core.workflow_definitions), 'n1', 1, '1 min');
				perform core_node.commit_steps(array[c.run_id], '{""}', array[c.epoch], array[c.token], '{0}', '{1}', '{pay}', '{"{1}"}', '{7}', '{"{\"kind\": \"sql\", \"function\": \"flowapp.never(jsonb)\"}"}', '{next}', '{null}');
				perform core_node.fail_step(c.run_id, '', c.epoch, c.token, 1, 2, 'ship', '{2}', 'reject');
			end $$`)
		if n := dbtest.Get[int](db, `select count(*)::int from core_node.claim_runs('flowapp', array(select def_id from core.workflow_definitions), 'n1', 1, '1 min')`); n != 0 {
			t.Fatal("a node was given a compensation in SQL")
		}
		for range 4 {
			conn := connect(t, db.SQLURL())
			if _, err := conn.Exec(t.Context(), `call core.work_all('1 s')`); err != nil {
				t.Fatal(err)
			}
			_ = conn.Close(context.Background())
			db.Advance(10 * time.Second)
		}
		status = dbtest.Get[string](db, `select concat_ws(' ', status, error #>> '{compensation,reason}', error #>> '{compensation,error}') from core.workflow_runs order by created_at desc, run_id desc limit 1`)
		return status
	}
	for _, c := range []struct{ function, want, notes string }{
		{"undo_pay", "failed", "author undo pay 7 1 nexus_sql"},
		{"undo_bad", "compensation_failed error P0001: no way", ""},
		{"undo_late", "compensation_failed commit 23505", ""},
	} {
		if err := register(a, "flowapp."+c.function+"(jsonb)"); err != nil {
			t.Fatal(err)
		}
		db.Exec("delete from flowapp.notes")
		if got := fails(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.function, got, c.want)
		}
		if got := strings.Join(a.notes(t, db), ", "); got != c.notes {
			t.Errorf("%s: notes %q, want %q", c.function, got, c.notes)
		}
	}
	if n := dbtest.Get[int](db, `select attempts from core.dead_letters where source_kind = 'workflow_compensation' and reason = 'commit'`); n != 3 {
		t.Errorf("given up after %d attempts", n)
	}
	if _, err := db.Owner.Exec(t.Context(), "select core_node.claim_undo()"); !errors.As(err, &pg) || pg.Code != "NX401" {
		t.Errorf("a superuser ran it: %v", err)
	}
}
