// holds: E3

package db_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/dbtest"
)

var modes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
	pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
}

// everyWay runs test on each kind of DBTX in each of pgx's query modes.
func everyWay(t *testing.T, test func(t *testing.T, q nexus.DBTX)) {
	t.Helper()
	for _, mode := range modes {
		t.Run("pgx/"+mode.String(), func(t *testing.T) { test(t, connect(t, mode)) })
		config, err := pgx.ParseConfig(dbtest.URL(t))
		if err != nil {
			t.Fatal(err)
		}
		config.DefaultQueryExecMode = mode
		t.Run("sql/"+mode.String(), func(t *testing.T) {
			pool := stdlib.OpenDB(*config)
			t.Cleanup(func() { pool.Close() })
			test(t, nexus.SQL(pool))
			for name, open := range map[string]func(context.Context) (nexus.DBTX, error){
				"conn": func(ctx context.Context) (nexus.DBTX, error) {
					c, err := pool.Conn(ctx)
					return nexus.SQL(c), err
				},
				"tx": func(ctx context.Context) (nexus.DBTX, error) {
					tx, err := pool.BeginTx(ctx, &sql.TxOptions{})
					return nexus.SQL(tx), err
				},
			} {
				q, err := open(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				t.Run(name, func(t *testing.T) { test(t, q) })
			}
		})
	}
}

// row has each type that a statement of the module takes back.
type row struct {
	Int       int64
	Small     int
	Text      string
	Null      *string
	Bool      bool
	Float     float64
	UID       uuid.UUID
	At        time.Time
	NoTime    *time.Time
	Doc       json.RawMessage
	Bytes     []byte
	Span      time.Duration
	Ints      []int64
	NullInts  []*int64
	Texts     []string
	NullTexts []*string
	Bools     []bool
	UIDs      []uuid.UUID
	Times     []time.Time
	None      []int64
}

func TestEveryTypeComesBack(t *testing.T) {
	text, seven := `é "quoted" \ {,} null`, int64(7)
	at := time.Date(2026, 3, 29, 2, 30, 0, 123456000, time.UTC)
	uid := uuid.MustParse("0190163d-8694-739b-aea5-966c26f8ad90")
	want := row{
		Int: 1<<62 + 1, Small: -3, Text: text, Bool: true, Float: 0.1, UID: uid, At: at,
		Doc: json.RawMessage(`{"n": 9007199254740993.10}`), Bytes: []byte{0, 255, '\\'}, Span: 90*time.Minute + time.Microsecond,
		Ints: []int64{1, -2}, NullInts: []*int64{&seven, nil}, Texts: []string{text, "", "NULL"}, NullTexts: []*string{nil, &text},
		Bools: []bool{true, false}, UIDs: []uuid.UUID{uid, uuid.Nil}, Times: []time.Time{at},
	}
	everyWay(t, func(t *testing.T, q nexus.DBTX) {
		t.Helper()
		var got row
		err := db.Call(t.Context(), q, "types", `select $1::bigint, $2::int, $3::text, null::text, $4::boolean, $5::float8,
			$6::text::uuid, $7::text::timestamptz, null::timestamptz, $8::text::jsonb, $9::bytea, $10::text::interval,
			$11::bigint[], $12::bigint[], $13::text[], $14::text[], $15::boolean[], $16::text[]::uuid[], $17::text[]::timestamptz[],
			null::bigint[]`,
			[]any{
				want.Int, want.Small, want.Text, want.Bool, want.Float, uid.String(), db.Time(at), string(want.Doc), want.Bytes,
				db.Interval(want.Span), want.Ints, want.NullInts, want.Texts, want.NullTexts, want.Bools,
				[]string{uid.String(), uuid.Nil.String()}, []string{db.Time(at)},
			},
			fields(&got)...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("row (-want +got):\n%s", diff)
		}
	})
}

func fields(r *row) (all []any) {
	for _, f := range reflect.ValueOf(r).Elem().Fields() {
		all = append(all, f.Addr().Interface())
	}
	return all
}

// TestArraysOfAnyLength sends documents and gets numbers back, the way a batch of events does, once with one and once with
// 10,000.
// holds: others-batches
func TestArraysOfAnyLength(t *testing.T) {
	everyWay(t, func(t *testing.T, q nexus.DBTX) {
		t.Helper()
		for _, n := range []int{1, 10_000} {
			docs := make([]string, n)
			maybe := make([]*string, n)
			for i := range docs {
				docs[i] = fmt.Sprintf(`{"i": %d, "text": "q\"b\\s\u00e9'{},"}`, i)
				if i%2 == 1 {
					maybe[i] = &docs[i]
				}
			}
			var indexes, given []int64
			var texts []string
			err := db.Call(t.Context(), q, "arrays", `select array_agg((d ->> 'i')::bigint order by n), array_agg(d ->> 'text' order by n),
				array_agg((m ->> 'i')::bigint order by n) filter (where m is not null)
				from unnest($1::text[]::jsonb[], $2::text[]::jsonb[]) with ordinality as u(d, m, n)`,
				[]any{docs, maybe}, &indexes, &texts, &given)
			if err != nil {
				t.Fatal(err)
			}
			if len(indexes) != n || len(texts) != n || len(given) != n/2 {
				t.Fatalf("%d rows became %d, %d and %d", n, len(indexes), len(texts), len(given))
			}
			for i := range indexes {
				if indexes[i] != int64(i) || texts[i] != `q"b\sé'{},` {
					t.Fatalf("row %d is %d, %q", i, indexes[i], texts[i])
				}
			}
		}
	})
}
