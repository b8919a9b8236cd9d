package deadletter_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/deadletter"
	"github.com/nexuspg/nexus/internal/dbtest"
)

func TestFilterPicks(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	db := newDB(t, "shop", "mail")
	db.SetNow(start)
	placed := bury(t, db, "shop", "no sku", "order.placed", "order.shipped")
	db.SetNow(start.Add(time.Hour))
	late := bury(t, db, "shop", "no page", "page.viewed")
	mail := bury(t, db, "mail", "no sku", "order.placed")

	for name, test := range map[string]struct {
		filter deadletter.Filter
		want   []int64
	}{
		"a namespace":           {deadletter.Filter{Namespace: "shop"}, slices.Concat(placed, late)},
		"ids":                   {deadletter.Filter{IDs: []int64{late[0], mail[0]}}, slices.Concat(late, mail)},
		"no ids":                {deadletter.Filter{Namespace: "shop", IDs: []int64{}}, nil},
		"a type":                {deadletter.Filter{Type: "order.placed"}, []int64{placed[0], mail[0]}},
		"a pattern":             {deadletter.Filter{Namespace: "shop", Type: "order.*"}, placed},
		"a reason":              {deadletter.Filter{Reason: "no sku"}, slices.Concat(placed, mail)},
		"a source":              {deadletter.Filter{Source: "delivery"}, slices.Concat(placed, late, mail)},
		"another source":        {deadletter.Filter{Source: "lane"}, nil},
		"before":                {deadletter.Filter{Before: start.Add(time.Hour)}, placed},
		"after, that included":  {deadletter.Filter{After: start.Add(time.Hour).In(time.FixedZone("", 7200))}, slices.Concat(late, mail)},
		"the oldest":            {deadletter.Filter{Source: "delivery", Limit: 2}, placed},
		"all criteria together": {deadletter.Filter{Namespace: "shop", Reason: "no sku", Type: "order.*", Before: start.Add(time.Minute)}, placed},
	} {
		t.Run(name, func(t *testing.T) {
			tx, err := db.Owner.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback(context.Background())
			r, err := deadletter.Discard(t.Context(), tx, test.filter, "spring cleaning")
			if want := ([3]int{len(test.want), len(test.want)}); err != nil || counts(r) != want {
				t.Errorf("result %+v, %v; want %+v", r, err, want)
			}
			var ids []int64
			if err := tx.QueryRow(t.Context(), `select array_agg(dead_letter_id order by dead_letter_id) from core.dead_letters
				where resolution = 'discarded' and resolved_reason = 'spring cleaning'`).Scan(&ids); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, ids); diff != "" {
				t.Errorf("discarded (-want +got):\n%s", diff)
			}
		})
	}
	if left := resolutions(t, db); len(left) != 0 {
		t.Errorf("rolled back, but resolved: %v", left)
	}
}

func TestReplayDeliversAgain(t *testing.T) {
	db := newDB(t, "shop")
	ids := bury(t, db, "shop", "no sku", "order.placed", "page.viewed")
	r, err := deadletter.Replay(t.Context(), db.Owner, deadletter.Filter{Type: "order.*"}, nil)
	if want := ([3]int{1, 1}); err != nil || counts(r) != want {
		t.Fatalf("result %+v, %v; want %+v", r, err, want)
	}
	if diff := cmp.Diff(map[int64]string{ids[0]: "replayed"}, resolutions(t, db)); diff != "" {
		t.Errorf("resolved (-want +got):\n%s", diff)
	}
	reject(t, db, "shop", "again")
	if n := dbtest.Get[int64](db, "select count(*) from core.dead_letters where replay_of = $1 and attempts = 1", ids[0]); n != 1 {
		t.Errorf("%d dead letters of the replay, with attempts counted from the start", n)
	}
}

func TestReplayWithAnotherPayload(t *testing.T) {
	db := newDB(t, "shop")
	ids := bury(t, db, "shop", "no sku", "order.placed", "order.placed")
	mended := &deadletter.ReplayOptions{Payload: json.RawMessage(`{"n":9007199254740993}`)}

	_, err := deadletter.Replay(t.Context(), db.Owner, deadletter.Filter{Namespace: "shop"}, mended)
	wantError(t, err, nexus.CodeOptionValue, "payload")
	_, err = deadletter.Replay(t.Context(), nil, deadletter.Filter{IDs: ids[:1]}, &deadletter.ReplayOptions{Payload: json.RawMessage(`"\u0000"`)})
	wantError(t, err, nexus.CodePayload, "payload")

	if _, err := deadletter.Replay(t.Context(), db.Owner, deadletter.Filter{IDs: ids[:1]}, mended); err != nil {
		t.Fatal(err)
	}
	if got := dbtest.Get[string](db, "select message ->> 'payload' from pgmq.q_core_events_shop"); got != `{"n": 9007199254740993}` {
		t.Errorf("delivered %s", got)
	}
}

func TestDryRunChangesNothing(t *testing.T) {
	db := newDB(t, "shop")
	bury(t, db, "shop", "no sku", "order.placed", "page.viewed")
	r, err := deadletter.Replay(t.Context(), db.Owner, deadletter.Filter{Namespace: "shop"}, &deadletter.ReplayOptions{DryRun: true})
	if want := ([3]int{2, 2}); err != nil || counts(r) != want {
		t.Errorf("result %+v, %v; want %+v", r, err, want)
	}
	if n := waiting(db, "shop"); n != 0 || len(resolutions(t, db)) != 0 {
		t.Errorf("%d delivered, resolved: %v", n, slices.Collect(maps.Keys(resolutions(t, db))))
	}
}

func TestRefusals(t *testing.T) {
	db := newDB(t, "shop")
	ctx := t.Context()
	_, err := deadletter.Replay(ctx, db.Owner, deadletter.Filter{}, nil)
	wantError(t, err, nexus.CodeDeadLetterFilter, "p_filter")
	_, err = deadletter.Discard(ctx, db.Owner, deadletter.Filter{Limit: 7}, "tidy")
	wantError(t, err, nexus.CodeDeadLetterFilter, "p_filter")
	_, err = deadletter.Discard(ctx, db.Owner, deadletter.Filter{Namespace: "shop", Limit: -1}, "tidy")
	wantError(t, err, nexus.CodeDeadLetterFilter, "limit")
	_, err = deadletter.Discard(ctx, db.Owner, deadletter.Filter{Namespace: "shop"}, "")
	wantError(t, err, nexus.CodeArgumentValue, "p_reason")
	_, err = deadletter.Discard(ctx, nil, deadletter.Filter{Reason: "\xff"}, "tidy")
	wantError(t, err, nexus.CodeOptionValue, "reason")
	if _, err = deadletter.Discard(ctx, db.Pool, deadletter.Filter{Namespace: "shop"}, "tidy"); !errors.Is(err, nexus.ErrForbidden) {
		t.Errorf("an ordinary login discards: %v", err)
	}
}

func TestEveryQueryMode(t *testing.T) {
	db := newDB(t, "shop")
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
		pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		config := db.Owner.Config().ConnConfig.Copy()
		config.DefaultQueryExecMode = mode
		t.Run(mode.String(), func(t *testing.T) {
			std := stdlib.OpenDB(*config)
			defer std.Close()
			conn, err := pgx.ConnectConfig(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.Background())
			for _, q := range []nexus.DBTX{conn, nexus.SQL(std)} {
				ids := bury(t, db, "shop", "it's \\ odd", "order.placed")
				f := deadletter.Filter{Reason: `it's \ odd`, IDs: ids}
				if r, err := deadletter.Replay(t.Context(), q, f, nil); err != nil || r.Done != 1 {
					t.Errorf("replay: %+v, %v", r, err)
				}
				reject(t, db, "shop", `it's \ odd`)
				f.IDs = nil
				if r, err := deadletter.Discard(t.Context(), q, f, `it's \ done`); err != nil || r.Done != 1 {
					t.Errorf("discard: %+v, %v", r, err)
				}
			}
		})
	}
}

func wantError(t *testing.T, err error, code, field string) {
	t.Helper()
	e, ok := errors.AsType[*nexus.Error](err)
	if !ok || !errors.Is(err, nexus.ErrInvalid) || e.Code != code || e.Field != field || e.Hint == "" {
		t.Errorf("got %#v (%v); want code %s, field %s, and a hint", err, err, code, field)
	}
}

func counts(r deadletter.Result) [3]int { return [3]int{r.Matched, r.Done, r.Skipped} }
