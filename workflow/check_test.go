package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// connectAs is a session that runs one statement at a time.
func connectAs(t *testing.T, url string) func(sql string) error {
	t.Helper()
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return func(sql string) error {
		_, err := conn.Exec(t.Context(), sql)
		return err
	}
}

// row of a journal.
type row struct {
	Key       string
	Status    string
	Result    *uint32
	Attempts  int
	Seq       int64
	Ord       []int32
	Undo      bool
	OnFailure bool
	Inherited bool
}

// effects of a key.
type effects struct {
	N, Attempt int
	Val        uint32
	First      int64
}

// all are the runs, those that these have begun as children, and what any of them went on as.
func (c *trial) all() []*subject {
	all := slices.Clone(c.runs)
	for i := 0; i < len(all); i++ {
		for _, n := range rowsOf[struct{ ContinuedAs uuid.UUID }](c, `select continued_as from core_private.workflow_runs
			where run_id = $1 and continued_as is not null`, all[i].id) {
			next := *all[i]
			next.id, next.plan, next.fork, next.mended = n.ContinuedAs, plan{}, false, false
			if err := json.Unmarshal(dbtest.Get[[]byte](c.db, `select input from core_private.workflow_runs where run_id = $1`, next.id), &next.plan); err != nil {
				c.t.Fatal(err)
			}
			all = append(all, &next)
		}
	}
	rows, err := c.db.Owner.Query(c.t.Context(), `
		select r.run_id, r.input, coalesce(p.status, '') in ('cancelled', 'timed_out') from core_private.workflow_runs r
		  join core_private.workflow_runs p on p.run_id = r.parent_run_id`)
	if err != nil {
		c.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		s := &subject{flow: c.flows[0]}
		var input []byte
		var cancelled bool
		if err := rows.Scan(&s.id, &input, &cancelled); err != nil {
			c.t.Fatal(err)
		}
		if err := json.Unmarshal(input, &s.plan); err != nil {
			c.t.Fatal(err)
		}
		if cancelled {
			s.cancel = "parent"
		}
		all = append(all, s)
	}
	return all
}

// check compares a run with the plain program.
func (c *trial) check(s *subject) {
	o := play(s.flow.random, s.plan)
	var status, failedAt, why string
	var result *uint32
	var next []byte
	if err := c.db.Owner.QueryRow(c.t.Context(), `select status, coalesce(error ->> 'step', ''), coalesce(error ->> 'error', ''), case when jsonb_typeof(result) = 'number' then result::bigint end,
			(select n.input from core_private.workflow_runs n where n.run_id = r.continued_as)
		from core_private.workflow_runs r where run_id = $1`, s.id).Scan(&status, &failedAt, &why, &result, &next); err != nil {
		c.t.Fatal(err)
	}
	faults := 0
	bad := func(format string, args ...any) {
		if faults++; faults < 4 {
			c.t.Errorf("%s %s, fork %v, cancelled %q, mended %v, %+v: it %s %s %.300s: %s",
				s.flow.name, s.id, s.fork, s.cancel, s.mended, s.plan, status, failedAt, why, fmt.Sprintf(format, args...))
		}
	}
	journal := map[string]row{}
	for _, r := range rowsOf[row](c, `select key, status::text, case when jsonb_typeof(result) = 'number' then result::bigint end as result, attempts, seq, ord, undo is not null as undo,
		coalesce((undo ->> 'on_failure')::boolean, false) as on_failure, inherited from core_private.workflow_journal where run_id = $1`, s.id) {
		journal[r.Key] = r
	}
	did := map[string]effects{}
	for _, e := range rowsOf[struct {
		Key string
		effects
	}](c, `select key, count(*)::int as n, max(attempt) as attempt, max(val) as val, min(n) as first from flows.did where run = $1 group by key`, s.id) {
		did[e.Key] = e.effects
	}

	switch {
	case status == "cancelled" && s.cancel != "" && next == nil:
	case next != nil && (status != "completed" || o.next == nil):
		bad("it went on as %s", next)
	case next != nil:
		var in plan
		if err := json.Unmarshal(next, &in); err != nil || !reflect.DeepEqual(in, o.next.plan) {
			bad("it went on as %s, and not as %+v", next, o.next.plan)
		}
	case o.next != nil:
		bad("it did not go on as %+v", o.next.plan)
	case status == "completed" && o.ok && s.cancel != "plain" && s.cancel != "undo":
		if result == nil || *result != o.out {
			bad("the result is %v, and not %d", result, o.out)
		}
	case status == "failed" && !o.ok && s.cancel != "plain" && s.cancel != "undo":
		if !slices.Contains(o.failed, failedAt) {
			bad("it failed at %s, and not at one of %v", failedAt, o.failed)
		}
	default:
		bad("a plain program: %v, %v", o.ok, o.failed)
	}

	known := map[string]step{}
	for _, d := range o.did {
		known[d.key] = d
		j := journal[d.key]
		switch {
		case j.Status != "c" && d.certain && status != "cancelled":
			bad("%s was not done", d.key)
		case j.Status != "c":
			continue
		case j.Result == nil || *j.Result != d.val:
			bad("%s returned %v, and not %d", d.key, j.Result, d.val)
		}
		if d.part.kind == "child" {
			continue
		}
		e := did[d.key]
		switch {
		case j.Inherited && e.N > 0:
			bad("%s was inherited, and done", d.key)
		case j.Inherited:
		case d.part.kind == "tx" && e.N != 1, e.N < 1:
			bad("%s is there %d times", d.key, e.N)
		case !s.mended && (j.Attempts != failures(s.plan, d.key)+1 || e.Attempt != j.Attempts):
			bad("%s took %d attempts, and the last was %d, not %d", d.key, j.Attempts, e.Attempt, failures(s.plan, d.key)+1)
		}
	}
	for key, e := range did {
		d, is := known[strings.TrimSuffix(key, "~undo")]
		if _, undo := journal[key]; !undo && is && d.part.kind == "tx" && e.N > 0 && journal[key].Status != "c" {
			bad("%s was rolled back, and its effect is there", key)
		}
	}
	for i, a := range o.did {
		for _, b := range o.did[i+1:] {
			if ja, jb := journal[a.key], journal[b.key]; ja.Status == "c" && jb.Status == "c" && !a.beside(b) && ja.Seq > jb.Seq {
				bad("%s came after %s", a.key, b.key)
			}
		}
	}
	for key, j := range journal {
		if _, is := known[key]; !is && j.Status == "c" && j.Result != nil && !strings.HasSuffix(key, "~undo") && strings.ContainsRune("stmc", rune(key[0])) {
			bad("%s was done, and is no step of a plain program", key)
		}
	}

	// What was done is undone, once, the last first.
	var undone []row
	for key, j := range journal {
		base, is := strings.CutSuffix(key, "~undo")
		if !is {
			undo, there := journal[key+"~undo"]
			due := next == nil && j.Undo && !j.Inherited && (j.Status == "c" || j.Attempts > 0 && j.OnFailure) && (status == "failed" || status == "cancelled" && s.cancel == "undo")
			if due && (!there || undo.Status != "c") {
				bad("%s was not undone", key)
			}
			continue
		}
		undone = append(undone, j)
		of := journal[base]
		switch e := did[key]; {
		case status == "completed":
			bad("%s was undone", base)
		case of.Inherited:
			bad("%s was inherited, and undone", base)
		case of.Status != "c" && !of.OnFailure:
			bad("%s was undone, and not done", base)
		case of.Status == "c" && of.Result != nil && e.Val != *of.Result:
			bad("%s was given %d", key, e.Val)
		case e.N < 1, known[base].part != nil && known[base].part.undo != "go" && known[base].part.undo != "item" && e.N != 1:
			bad("%s is there %d times", key, e.N)
		}
	}
	slices.SortFunc(undone, func(a, b row) int { return int(a.Seq - b.Seq) })
	for i := 1; i < len(undone); i++ {
		if slices.Compare(undone[i-1].Ord, undone[i].Ord) < 0 {
			bad("%s was undone before %s", undone[i-1].Key, undone[i].Key)
		}
	}
	if n := dbtest.Get[int](c.db, `select count(*)::int from (select seq, lag((result ->> 'payload')::int, 1, -1) over (partition by split_part(key, '#', 1) order by seq) as before,
		(result ->> 'payload')::int as payload from core_private.workflow_journal where run_id = $1 and key ~ '^s' and jsonb_typeof(result) = 'object' and not inherited) x
		where payload <= before`, s.id); n > 0 {
		bad("signals were taken in another order than they were sent")
	}
}

func rowsOf[T any](c *trial, sql string, args ...any) []T {
	rows, err := c.db.Owner.Query(c.t.Context(), sql, args...)
	if err != nil {
		c.t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	if err != nil {
		c.t.Fatal(err)
	}
	return all
}
