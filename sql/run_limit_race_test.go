package nexussql_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// inHand counts how many cursors of each run sessions have, at least: it hears of a claim after its commit, and of what is given back before.
type inHand struct {
	mu   sync.Mutex
	runs map[string]int
	most int
}

func (in *inHand) add(n int, hands ...hand) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, h := range hands {
		if in.runs[h.Run] += n; in.runs[h.Run] == 0 {
			delete(in.runs, h.Run)
		}
	}
	in.most = max(in.most, len(in.runs))
}

// W13: sessions that claim at once have no more runs in hand than their workflow may, and all of their branches, and all end.
// holds: W13 (concurrency, races)
func TestClaimsOfALimitedWorkflow(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	const limit, runs = 2, 12
	db.Exec(`select core_node.register_workflow('shop', 'w', 1, '[{"name": "p", "kind": "parallel", "steps": [{"name": "a", "kind": "step"},
		{"name": "b", "kind": "step"}, {"name": "c", "kind": "step"}]}]', jsonb_build_object('concurrency', $1::int))`, limit)
	db.Exec(`select core.start_workflow('shop', 'w') from generate_series(1, $1)`, runs)
	in := inHand{runs: map[string]int{}}
	goesOn := func(ctx context.Context, conn *pgx.Conn, h hand) (err error) {
		in.add(-1, h)
		switch at := []any{h.Run, h.Path, h.Epoch, h.Token, h.Pos}; {
		case rand.N(4) == 0:
			_, err = conn.Exec(ctx, `select core_node.release_runs(array[$1::uuid], array[$2], array[$3::int], array[$4::uuid])`, at[:4]...)
		case h.Path != "":
			_, err = conn.Exec(ctx, `select core_node.end_branch($1, $2, $3, $4, $5, right($2, 1), '{1, 1}', '1')`, at...)
		case h.Pos == 0:
			_, err = conn.Exec(ctx, `select core_node.fan_out($1, $2, $3, $4, $5, 1, 'p', '{1}', '{a,b,c}')`, at...)
		default:
			_, err = conn.Exec(ctx, `select core_node.commit_step($1, $2, $3, $4, $5, 1, null, null, null, null, 'end', '1')`, at...)
		}
		return err
	}
	noErrors(t, atOnce(t, db, 5, func(ctx context.Context, conn *pgx.Conn, _ int) error {
		for left := true; left; {
			hands, err := claimRuns(ctx, conn, 1+rand.N(4))
			if err != nil {
				return err
			}
			in.add(1, hands...)
			for _, h := range hands {
				if err := goesOn(ctx, conn, h); err != nil {
					return err
				}
			}
			if err := conn.QueryRow(ctx, `select exists (select from core_private.workflow_cursors)`).Scan(&left); err != nil {
				return err
			}
		}
		return nil
	}))
	if ended := dbtest.Get[int](db, `select count(*)::int from core_private.workflow_runs where status = 'completed'`); ended != runs || in.most != limit {
		t.Errorf("%d runs have ended, %d were in hand at once", ended, in.most)
	}
}
