// holds: K7 (from Go)

package kv_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/kv"
)

type setting struct {
	Color string `json:"color"`
	Size  int64  `json:"size,omitempty"`
}

var settings = kv.Collection[setting]{Namespace: "shop", Name: "settings"}

func TestEveryVerbOnEveryHandle(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	db.SetNow(now)
	dbtest.EveryWay(t, db.Owner, func(t *testing.T, q nexus.DBTX) {
		t.Helper()
		ctx := t.Context()
		db.Exec("delete from core.kv_entries")
		must := func(r kv.Result, err error) kv.Result {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if e, found, err := settings.Get(ctx, q, "theme"); found || err != nil {
			t.Fatalf("%+v, %t, %v", e, found, err)
		}
		blue := setting{"blue", 1<<53 + 1}
		made := must(settings.Set(ctx, q, "theme", blue, &kv.SetOptions{IfAbsent: true, TTL: time.Hour}))
		if again := must(settings.Set(ctx, q, "theme", blue, &kv.SetOptions{IfAbsent: true})); !made.Done || again != (kv.Result{Version: made.Version}) {
			t.Errorf("%+v, then %+v", made, again)
		}
		if r := must(settings.Set(ctx, q, "other", blue, &kv.SetOptions{IfPresent: true})); r != (kv.Result{}) {
			t.Errorf("set a key that is not there: %+v", r)
		}
		e, found, err := settings.Get(ctx, q, "theme")
		if err != nil || !found {
			t.Fatal(found, err)
		}
		for _, at := range []*time.Time{&e.CreatedAt, &e.UpdatedAt, &e.ExpiresAt} {
			*at = at.UTC()
		}
		want := kv.Entry[setting]{"theme", blue, made.Version, now, now, now.Add(time.Hour), e.UpdatedBy}
		if d := cmp.Diff(want, e); d != "" || e.UpdatedBy == "" {
			t.Error(d)
		}
		red := must(settings.CAS(ctx, q, "theme", setting{Color: "red"}, made.Version, &kv.CASOptions{TTL: time.Minute}))
		if lost := must(settings.CAS(ctx, q, "theme", blue, made.Version, nil)); !red.Done || lost != (kv.Result{Version: red.Version}) {
			t.Errorf("%+v, then %+v", red, lost)
		}
		if r := must(settings.CAS(ctx, q, "a", blue, 0, nil)); !r.Done {
			t.Errorf("a key that is not there: %+v", r)
		}
		entries, err := settings.List(ctx, q, nil)
		if err != nil || len(entries) != 2 || entries[0].Key != "a" || entries[0].Value != blue || !entries[0].ExpiresAt.IsZero() || entries[1].Value.Color != "red" {
			t.Errorf("%+v, %v", entries, err)
		}
		entries, err = settings.List(ctx, q, &kv.ListOptions{After: "a", Limit: 1, Prefix: "t", KeysOnly: true})
		if err != nil || len(entries) != 1 || entries[0].Key != "theme" || entries[0].Value != (setting{}) || entries[0].Version != red.Version {
			t.Errorf("%+v, %v", entries, err)
		}
		if r := must(settings.Delete(ctx, q, "theme", &kv.DeleteOptions{Version: made.Version})); r != (kv.Result{Version: red.Version}) {
			t.Errorf("deleted by an old version: %+v", r)
		}
		if r := must(settings.Delete(ctx, q, "theme", &kv.DeleteOptions{Version: red.Version})); r != red {
			t.Errorf("deleted: %+v", r)
		}
		if r := must(settings.Delete(ctx, q, "theme", nil)); r != (kv.Result{}) {
			t.Errorf("deleted twice: %+v", r)
		}
	})
}

// What is written comes back with every digit, and nothing is null.
// holds: others-payloads (keys)
func TestValuesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	raw := kv.Collection[json.RawMessage]{Namespace: "shop", Name: "raw"}
	for i, value := range []string{`null`, `1.10`, `12345678901234567890123`, `"é\u0001"`, `[]`, `{"a": {"b": [1, null]}}`} {
		key := fmt.Sprint(i)
		if _, err := raw.Set(t.Context(), db.Owner, key, json.RawMessage(value), nil); err != nil {
			t.Fatal(err)
		}
		if e, _, err := raw.Get(t.Context(), db.Owner, key); err != nil || string(e.Value) != value {
			t.Errorf("%s came back as %s, %v", value, e.Value, err)
		}
	}
	if _, err := raw.Set(t.Context(), db.Owner, "nothing", nil, nil); err != nil {
		t.Fatal(err)
	}
	if e, found, err := raw.Get(t.Context(), db.Owner, "nothing"); err != nil || !found || string(e.Value) != "null" {
		t.Errorf("nothing came back as %s, %t, %v", e.Value, found, err)
	}
	some := kv.Collection[any]{Namespace: "shop", Name: "any"}
	if _, err := some.Set(t.Context(), db.Owner, "nothing", nil, nil); err != nil {
		t.Fatal(err)
	}
	if e, found, err := some.Get(t.Context(), db.Owner, "nothing"); err != nil || !found || e.Value != nil {
		t.Errorf("nothing came back as %v, %t, %v", e.Value, found, err)
	}
	// A value of another form is an error that names the key, beside what can be read.
	if _, err := raw.Set(t.Context(), db.Owner, "odd", json.RawMessage(`"x"`), nil); err != nil {
		t.Fatal(err)
	}
	numbers := kv.Collection[int]{Namespace: "shop", Name: "raw"}
	if _, _, err := numbers.Get(t.Context(), db.Owner, "odd"); err == nil || !strings.Contains(err.Error(), `key "odd" is no int`) {
		t.Errorf("a text read as a number: %v", err)
	}
}

// What is set in a transaction is there for it, and gone with it.
func TestATransactionTakesItBack(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	oops := errors.New("oops")
	err := pgx.BeginFunc(t.Context(), db.Owner, func(tx pgx.Tx) error {
		if r, err := settings.Set(t.Context(), tx, "theme", setting{Color: "blue"}, nil); err != nil || !r.Done {
			t.Errorf("%+v, %v", r, err)
		}
		if _, found, err := settings.Get(t.Context(), tx, "theme"); err != nil || !found {
			t.Errorf("in the transaction: %t, %v", found, err)
		}
		return oops
	})
	if !errors.Is(err, oops) {
		t.Fatal(err)
	}
	if _, found, err := settings.Get(t.Context(), db.Owner, "theme"); err != nil || found {
		t.Errorf("after it: %t, %v", found, err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	ctx := t.Context()
	set := func(c kv.Collection[setting], q nexus.DBTX, key string, opts *kv.SetOptions) error {
		_, err := c.Set(ctx, q, key, setting{}, opts)
		return err
	}
	_, list := settings.List(ctx, db.Owner, &kv.ListOptions{Limit: 1001})
	_, cas := settings.CAS(ctx, db.Owner, "k", setting{}, -1, nil)
	_, value := kv.Collection[json.RawMessage]{Namespace: "shop", Name: "c"}.Set(ctx, db.Owner, "k", json.RawMessage(`{`), nil)
	for name, c := range map[string]struct {
		err         error
		family      error
		code, field string
	}{
		"key":        {set(settings, db.Owner, "", nil), nexus.ErrInvalid, nexus.CodeKey, "p_key"},
		"collection": {set(kv.Collection[setting]{Namespace: "shop"}, db.Owner, "k", nil), nexus.ErrInvalid, nexus.CodeKey, "p_collection"},
		"namespace":  {set(kv.Collection[setting]{Namespace: "nowhere", Name: "c"}, db.Owner, "k", nil), nexus.ErrNotFound, nexus.CodeNoNamespace, "p_namespace"},
		"ttl":        {set(settings, db.Owner, "k", &kv.SetOptions{TTL: -1}), nexus.ErrInvalid, nexus.CodeOptionValue, "ttl"},
		"both":       {set(settings, db.Owner, "k", &kv.SetOptions{IfAbsent: true, IfPresent: true}), nexus.ErrInvalid, nexus.CodeOptionValue, "if_present"},
		"version":    {cas, nexus.ErrInvalid, nexus.CodeArgumentValue, "p_version"},
		"limit":      {list, nexus.ErrInvalid, nexus.CodeArgumentValue, "p_limit"},
		"value":      {value, nexus.ErrInvalid, nexus.CodePayload, "p_value"},
		"no handle":  {set(settings, (*pgxpool.Pool)(nil), "k", nil), nexus.ErrInvalid, nexus.CodeArgumentValue, "q"},
		"no reader": {func() error {
			_, url := db.As("nexus_producer")
			conn, err := pgx.Connect(ctx, url)
			if err != nil {
				return err
			}
			defer conn.Close(ctx)
			_, _, err = settings.Get(ctx, conn, "k")
			return err
		}(), nexus.ErrForbidden, "42501", ""},
	} {
		if e, ok := errors.AsType[*nexus.Error](c.err); !ok || !errors.Is(c.err, c.family) || e.Code != c.code || e.Field != c.field {
			t.Errorf("%s: %v (%+v); want %s of %s", name, c.err, e, c.code, c.field)
		}
	}
}
