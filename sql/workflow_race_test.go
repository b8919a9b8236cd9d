package nexussql_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// hand is a cursor that a claim gave.
type hand struct {
	Run, Path, Token string
	Epoch, Pos       int
	State            string
}

type asks interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// claimRuns claims all runs of the namespace shop.
func claimRuns(ctx context.Context, q asks, limit int) ([]hand, error) {
	rows, err := q.Query(ctx, `select run_id::text, path, token::text, epoch, pos, state
		from core_node.claim_runs('shop', array(select def_id from core.workflow_definitions), 'n1', $1, '1 min')`, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[hand])
}

// commitRuns commits a step of each, and returns what became of them.
func commitRuns(ctx context.Context, q asks, op string, hands ...hand) ([]string, error) {
	var runs, paths, tokens, keys, ords, results, ops []string
	var epochs, pos []int
	for _, h := range hands {
		runs, paths, tokens, epochs, pos = append(runs, h.Run), append(paths, h.Path), append(tokens, h.Token), append(epochs, h.Epoch), append(pos, h.Pos)
		keys, ords, results, ops = append(keys, fmt.Sprintf("k%d%s", h.Pos, h.Path)), append(ords, fmt.Sprintf("{%d}", h.Pos)), append(results, "1"), append(ops, op)
	}
	none := make([]*string, len(hands))
	var outcomes []string
	err := q.QueryRow(ctx, `select array_agg(outcome order by n) from core_node.commit_steps($1::text[]::uuid[], $2, $3, $4::text[]::uuid[], $5, $5, $6, $7, $8, $9, $10, $9)`,
		runs, paths, epochs, tokens, pos, keys, ords, results, none, ops).Scan(&outcomes)
	return outcomes, err
}

func startRuns(t *testing.T, db *dbtest.DB, n int) {
	t.Helper()
	db.Exec(`select core_node.register_workflow('shop', 'w', 1, '[{"name": "a", "kind": "step"}]')`)
	db.Exec(`select count(*) from generate_series(1, $1) n cross join lateral core.start_workflow('shop', 'w', to_jsonb(n))`, n)
}

// W3: ten sessions that claim at once have each cursor once.
// holds: W3 (races), others-claims (runs)
func TestRunsAreClaimedOnce(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	const runs = 60
	startRuns(t, db, runs)
	var mu sync.Mutex
	given := map[string]int{}
	noErrors(t, atOnce(t, db, 10, func(ctx context.Context, conn *pgx.Conn, _ int) error {
		for {
			hands, err := claimRuns(ctx, conn, 3)
			if err != nil || len(hands) == 0 {
				return err
			}
			mu.Lock()
			for _, h := range hands {
				given[h.Run]++
			}
			mu.Unlock()
		}
	}))
	if len(given) != runs || slices.Max(slices.Collect(maps.Values(given))) != 1 {
		t.Errorf("%d runs were given: %v", len(given), given)
	}
}

// W2: a claim whose commit is lost, in a failover, is given again with the same epoch; the token tells the two apart.
// holds: W2 (a lost claim)
func TestALostClaimHasLost(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	startRuns(t, db, 1)
	tx, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first, err := claimRuns(t.Context(), tx, 1)
	if err != nil {
		t.Fatal(err)
	}
	_ = tx.Rollback(t.Context()) // as the server has it, after it lost the commit
	second, err := claimRuns(t.Context(), db.Owner, 1)
	if err != nil || first[0].Epoch != second[0].Epoch {
		t.Fatal(first, second, err)
	}
	for i, want := range []string{"lost", "ok"} {
		h := [][]hand{first, second}[i]
		if got, err := commitRuns(t.Context(), db.Owner, "end", h...); err != nil || got[0] != want {
			t.Errorf("claim %d: %v, %v, want %s", i+1, got, err, want)
		}
	}
}

// W7: a signal that meets the beginning of a wait is seen by it, or by the claim that comes after.
// holds: W7 (races), others-signals
func TestNoSignalIsLostAtAWait(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	const rounds = 60
	for round := range rounds {
		startRuns(t, db, 1)
		hands, err := claimRuns(t.Context(), db.Owner, 1)
		if err != nil || len(hands) != 1 {
			t.Fatal(round, hands, err)
		}
		h := hands[0]
		noErrors(t, atOnce3(t, db, func(ctx context.Context, conn asks) error {
			_, err := commitOnly(ctx, conn, `select outcome from core_node.wait_step($1::text::uuid, '', $2, $3::text::uuid, 0, 1, 'go', '{1}', 'signal', null, null, 'go')`, h.Run, h.Epoch, h.Token)
			return err
		}, func(ctx context.Context, conn asks) error {
			_, err := commitOnly(ctx, conn, `select core.signal_workflow($1::text::uuid, 'go')`, h.Run)
			return err
		}, func(ctx context.Context, conn asks) error {
			_, err := claimRuns(ctx, conn, 10)
			return err
		}))
		if _, err := claimRuns(t.Context(), db.Owner, 10); err != nil {
			t.Fatal(err)
		}
		if got := dbtest.Get[string](db, `select concat_ws(' ', c.state, c.pos, c.token is not null) from core_private.workflow_cursors c where c.run_id = $1::text::uuid`, h.Run); got != "R 1 t" {
			t.Fatalf("round %d: the run stands at %s", round, got)
		}
		db.Exec("delete from core_private.workflow_cursors")
	}
}

func commitOnly(ctx context.Context, conn asks, sql string, args ...any) (outcome string, err error) {
	err = conn.QueryRow(ctx, sql, args...).Scan(&outcome)
	return outcome, err
}

// atOnce3 runs some functions at once on the pool.
func atOnce3(t *testing.T, db *dbtest.DB, fs ...func(ctx context.Context, conn asks) error) []error {
	t.Helper()
	errs := make([]error, len(fs))
	var wg sync.WaitGroup
	for i, f := range fs {
		wg.Go(func() { errs[i] = f(t.Context(), db.Owner) })
	}
	wg.Wait()
	return errs
}

// W10: a cancel that meets the last commit comes before it or after it.
// holds: W10 (races)
func TestACancelMeetsTheLastCommit(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	seen := map[string]int{}
	for round := range 40 {
		startRuns(t, db, 2)
		hands, err := claimRuns(t.Context(), db.Owner, 2)
		if err != nil || len(hands) != 2 {
			t.Fatal(hands, err)
		}
		var done []string
		var cancelled string
		group := hands[:1+round%2] // alone and in a group
		noErrors(t, atOnce3(t, db, func(ctx context.Context, conn asks) (err error) {
			for {
				if done, err = commitRuns(ctx, conn, "end", group...); err != nil || !slices.Contains(done, "busy") {
					return err
				}
			}
		}, func(ctx context.Context, conn asks) (err error) {
			cancelled, err = commitOnly(ctx, conn, `select core.cancel_workflow($1::text::uuid)`, hands[0].Run)
			return err
		}))
		is := dbtest.Get[string](db, `select concat_ws(' ', status, (select count(*) from core.workflow_steps s where s.run_id = r.run_id)) from core.workflow_runs r where run_id = $1::text::uuid`, hands[0].Run)
		what := done[0] + " " + cancelled + ": " + is
		seen[what]++
		if what != "ok already_finished: completed 1" && what != "already already_finished: completed 1" && what != "cancelled cancelled: cancelled 1" {
			t.Fatalf("round %d: %s", round, what)
		}
		db.Exec("delete from core_private.workflow_cursors")
	}
	t.Log(seen)
}

// W8: eight branches end at once, and the run goes on once.
// holds: W8 (races), others-branches
func TestBranchesJoinOnce(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	for range 8 {
		startRuns(t, db, 1)
		hands, err := claimRuns(t.Context(), db.Owner, 1)
		if err != nil || len(hands) != 1 {
			t.Fatal(hands, err)
		}
		h := hands[0]
		if got, err := commitOnly(t.Context(), db.Owner, `select core_node.fan_out($1::text::uuid, '', $2, $3::text::uuid, 0, 1, 'par', '{1}', '{a,b,c,d,e,f,g,h}')`, h.Run, h.Epoch, h.Token); got != "waits" || err != nil {
			t.Fatal(got, err)
		}
		var joined, ended atomic.Int64
		noErrors(t, atOnce(t, db, 6, func(ctx context.Context, conn *pgx.Conn, _ int) error {
			for ended.Load() < 8 {
				hands, err := claimRuns(ctx, conn, 1)
				if err != nil {
					return err
				}
				for _, h := range hands {
					if h.Path == "" {
						return nil // the run goes on
					}
					got, err := commitOnly(ctx, conn, `select outcome from core_node.end_branch($1::text::uuid, $2, $3, $4::text::uuid, $5, $2, '{1,1}', '1')`, h.Run, h.Path, h.Epoch, h.Token, h.Pos)
					if err != nil {
						return err
					}
					ended.Add(1)
					if got == "joined" {
						joined.Add(1)
					} else if got != "ok" {
						return errors.New(got)
					}
				}
			}
			return nil
		}))
		is := dbtest.Get[string](db, `select concat_ws(' ', count(*), max(pos), max(open)) from core_private.workflow_cursors where run_id = $1::text::uuid`, h.Run)
		if joined.Load() != 1 || is != "1 1 0" {
			t.Fatalf("%d joins, cursors %s", joined.Load(), is)
		}
		db.Exec("delete from core_private.workflow_cursors")
	}
}

// W2: claims, groups of commits and renewals meet in the same rows; what is busy comes again, and nothing is lost or done twice.
// holds: W2 (races), W5 (races)
func TestGroupsOfCommitsWaitForNobody(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	const runs, steps = 80, 6
	startRuns(t, db, runs)
	stop := make(chan struct{})
	var committed, busy atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() { // holds rows for moments
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := db.Owner.Exec(t.Context(), `with held as (select from core_private.workflow_cursors order by random() limit 10 for update skip locked) select pg_sleep(0.002) from (select count(*) from held) h`); err != nil {
				t.Error(err)
				return
			}
		}
	})
	errs := atOnce(t, db, 6, func(ctx context.Context, conn *pgx.Conn, i int) error {
		for committed.Load() < runs*steps {
			hands, err := claimRuns(ctx, conn, 10)
			if err != nil {
				return err
			}
			for len(hands) > 0 {
				op := "next"
				if hands[0].Pos == steps-1 {
					op = "end"
				}
				same := slices.DeleteFunc(slices.Clone(hands), func(h hand) bool { return (h.Pos == steps-1) != (op == "end") })
				rest := slices.DeleteFunc(hands, func(h hand) bool { return (h.Pos == steps-1) == (op == "end") })
				got, err := commitRuns(ctx, conn, op, same...)
				if err != nil {
					return err
				}
				hands = rest
				for n, outcome := range got {
					h := same[n]
					switch outcome {
					case "ok":
						committed.Add(1)
						h.Pos++
						if op == "next" {
							hands = append(hands, h)
						}
					case "busy":
						busy.Add(1)
						hands = append(hands, h)
					default:
						return fmt.Errorf("session %d: %s", i, outcome)
					}
				}
			}
			if _, err := conn.Exec(ctx, `select pg_sleep(0.001)`); err != nil {
				return err
			}
		}
		return nil
	})
	close(stop)
	wg.Wait()
	noErrors(t, errs)
	if busy.Load() == 0 {
		t.Error("no row was ever busy: the test shows nothing")
	}
	is := dbtest.Get[string](db, `select concat_ws(' ', (select count(*) from core.workflow_runs where status = 'completed'), (select count(*) from core.workflow_steps), (select max(attempts) from core.workflow_steps))`)
	if is != fmt.Sprintf("%d %d 1", runs, runs*steps) {
		t.Errorf("completed, steps, attempts: %s", is)
	}
}

// W7: signals of a run that an open transaction holds, however many, keep none of other runs.
// holds: W7 (a run that somebody holds)
func TestSignalsOfAHeldRunAreInNobodysWay(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`select core_node.register_workflow('shop', 'w', 1, '[{"name": "go", "kind": "signal"}]')`)
	db.Exec(`select core.start_workflow('shop', 'w', to_jsonb(n)) from generate_series(1, 2) n`)
	hands, err := claimRuns(t.Context(), db.Owner, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hands {
		db.Exec(`select core_node.wait_step($1, '', $2, $3, 0, 1, 'go', '{1}', 'signal', null, null, 'go')`, h.Run, h.Epoch, h.Token)
	}
	thinks, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = thinks.Rollback(t.Context()) }()
	if _, err := thinks.Exec(t.Context(), `select core.cancel_workflow($1)`, hands[0].Run); err != nil {
		t.Fatal(err)
	}
	db.Exec(`select core.signal_workflow($1, 'go') from generate_series(1, 1000)`, hands[0].Run)
	db.Exec(`select core.signal_workflow($1, 'go')`, hands[1].Run)
	got, err := claimRuns(t.Context(), db.Owner, 2)
	if err != nil || len(got) != 1 || got[0].Run != hands[1].Run || got[0].Pos != 1 {
		t.Errorf("%v, %v: the run whose signal came goes on", got, err)
	}
}

// holds: W2 (somebody else's transaction)
// The sweep ends runs whose time is over, and waits neither for a run that somebody holds nor for a child or its child, whose turn comes later.
func TestTheSweepOfTimeoutsWaitsForNobody(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`select core_node.register_workflow('shop', 'w', 1, '[{"name": "k", "kind": "child", "workflow": "w"}]')`)
	start := `select (core.start_workflow('shop', 'w', '{}', '{"timeout": "1 minute"}')).run_id::text`
	free, held := dbtest.Get[string](db, start), dbtest.Get[string](db, start)
	kid := func(of string) string {
		return dbtest.Get[string](db, `select core_private.new_run('shop', 'w', r.def_id, '{}', core.now(), null, null, null, null, core.now(), r.run_id, 'k', 0, 1)::text
			from core_private.workflow_runs r where r.run_id = $1::uuid`, of)
	}
	child := kid(held)
	for what, lock := range map[string]string{
		"the run":           `select from core_private.workflow_cursors where run_id = '` + held + `' for update`,
		"its row":           `select from core_private.workflow_runs where run_id = '` + held + `' for update`,
		"a child":           `select from core_private.workflow_cursors where run_id = '` + child + `' for update`,
		"a child's row":     `select from core_private.workflow_runs where run_id = '` + child + `' for update`,
		"a child's child":   `select from core_private.workflow_cursors where run_id = '` + kid(child) + `' for update`,
		"what is cancelled": `select core.cancel_workflow('` + child + `')`,
	} {
		func() {
			db.Advance(2 * time.Minute)
			thinks, err := db.Owner.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = thinks.Rollback(t.Context()) }() // else the end of a test that has failed would wait for it
			if _, err := thinks.Exec(t.Context(), lock); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Owner.Exec(t.Context(), `set local lock_timeout = '1 s'; select core_private.maintain_workflows()`); err != nil {
				t.Errorf("%s is held: %v", what, err)
			}
			if got := dbtest.Get[string](db, `select string_agg(status, ' ' order by run_id = $1::uuid) from core_private.workflow_runs where run_id = any (array[$1, $2]::uuid[])`, held, free); got != "timed_out open" {
				t.Errorf("%s is held: %s", what, got)
			}
		}()
	}
	db.Exec(`select core_private.maintain_workflows()`)
	if got := dbtest.Get[string](db, `select string_agg(distinct status, ' ') from core_private.workflow_runs`); got != "cancelled timed_out" {
		t.Errorf("all is free, and runs are %s", got)
	}
}
