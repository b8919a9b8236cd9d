// holds: E3

package db_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Whatever passes the check, Postgres takes and gives back with every digit; and but for the limits that are the module's
// own, whatever the check refuses, Postgres would refuse too.
// holds: others-payloads
func TestPayloadAgreesWithPostgres(t *testing.T) {
	conn := connect(t, pgx.QueryExecModeCacheStatement)
	rapid.Check(t, func(r *rapid.T) {
		text := jsonText(3).Draw(r, "text")
		stored, refusal := store(t, conn, text)
		passed, err := db.Payload("emit", "payload", json.RawMessage(text))
		switch e, _ := errors.AsType[*nexus.Error](err); {
		case err == nil && refusal != nil:
			r.Fatalf("passed, but Postgres says: %v", refusal)
		case err == nil && passed != text:
			r.Fatalf("changed into %q", passed)
		case err == nil:
			if want, got := value(r, text), value(r, stored); !reflect.DeepEqual(want, got) {
				r.Fatalf("stored as %s", stored)
			}
		case refusal == nil && !strings.Contains(e.Message, "beyond 1e308"):
			r.Fatalf("Postgres keeps it as %s, but: %v", stored, err)
		}
	})
}

// A Go value comes back as what it was.
func TestMarshalledPayloadRoundTrips(t *testing.T) {
	type leaf struct {
		Int    int64
		Uint   uint64
		Float  float64
		Text   string
		Bytes  []byte
		Any    any
		Nested map[string][]string
	}
	conn := connect(t, pgx.QueryExecModeCacheStatement)
	texts := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("a\"\\\u2028\ufffd<&\U0001F600"))))
	rapid.Check(t, func(r *rapid.T) {
		want := leaf{
			Int: rapid.Int64().Draw(r, "int"), Uint: rapid.Uint64().Draw(r, "uint"),
			Float: rapid.Float64Range(-1e308, 1e308).Draw(r, "float"), Text: texts.Draw(r, "text"),
			Bytes: rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(r, "bytes"), Any: texts.Draw(r, "any"),
			Nested: map[string][]string{texts.Draw(r, "key"): {texts.Draw(r, "element")}},
		}
		text, err := db.Payload("emit", "payload", want)
		if err != nil {
			if strings.Contains(fmt.Sprintf("%+v", want), "\x00") && strings.Contains(err.Error(), "NUL") {
				return
			}
			r.Fatal(err)
		}
		stored, refusal := store(t, conn, text)
		if refusal != nil {
			r.Fatal(refusal)
		}
		var got leaf
		if err := (&nexus.Delivery{Event: nexus.Event{Payload: json.RawMessage(stored)}}).Decode(&got); err != nil {
			r.Fatal(err)
		}
		if want.Float == 0 { // numeric has no negative zero
			got.Float, want.Float = 0, 0
		}
		if !reflect.DeepEqual(got, want) {
			r.Fatalf("came back as %+v", got)
		}
	})
}

func store(t *testing.T, conn *pgx.Conn, text string) (string, *pgconn.PgError) {
	t.Helper()
	var stored string
	err := conn.QueryRow(t.Context(), "select $1::text::jsonb::text", text).Scan(&stored)
	refusal, ok := errors.AsType[*pgconn.PgError](err)
	if err != nil && !ok {
		t.Fatal(err)
	}
	return stored, refusal
}

// value decodes JSON with numbers as fractions, so that 1.50 and 1.5 are the same and 9007199254740993 is not its neighbour.
func value(t interface{ Fatal(...any) }, text string) any {
	var v any
	if err := (&nexus.Delivery{Event: nexus.Event{Payload: json.RawMessage(text)}}).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return exact(v)
}

func exact(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, ok := new(big.Rat).SetString(v.String())
		if !ok {
			return v.String()
		}
		return f.String()
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = exact(v[k])
		}
	}
	return v
}

// jsonText draws JSON that likes the edges: odd escapes, numbers with many digits, and now and then a broken piece.
func jsonText(depth int) *rapid.Generator[string] {
	str := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{
		"a", "é", "😀", " ", "\u2028", `\n`, `\\`, `\"`, `\/`, `\u0041`, `\u0000`, `\u0001`, `\ud83d\ude00`, `\ud83d`, `\ude00`,
		`\u00e9`, `\uFFFD`, "\x00", "\n", `\x`, `\u12`, "\xff", "[", "1e999",
	}), 0, 3), func(s []string) string { return `"` + strings.Join(s, "") + `"` })
	digits := rapid.OneOf(rapid.StringMatching(`0|[1-9][0-9]{0,30}`), rapid.StringMatching(`[1-9][0-9]{290,330}`))
	number := rapid.Custom(func(r *rapid.T) string {
		n := rapid.SampledFrom([]string{"", "-"}).Draw(r, "sign") + digits.Draw(r, "digits")
		if rapid.Bool().Draw(r, "with fraction") {
			n += rapid.OneOf(rapid.StringMatching(`\.[0-9]{1,30}`), rapid.Just("."+strings.Repeat("0", 16382)+"12")).Draw(r, "fraction")
		}
		if rapid.Bool().Draw(r, "with exponent") {
			n += rapid.OneOf(rapid.StringMatching(`[eE][+-]?[0-9]{1,3}`), rapid.StringMatching(`e-163[78][0-9]`)).Draw(r, "exponent")
		}
		return n
	})
	leaf := rapid.OneOf(str, number, rapid.SampledFrom([]string{"true", "false", "null", "", "nul", "01", "+1", ".5", "1.", "NaN"}))
	if depth == 0 {
		return leaf
	}
	inner := jsonText(depth - 1)
	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(inner, 0, 4), func(s []string) string { return "[" + strings.Join(s, ", ") + "]" }),
		rapid.Custom(func(r *rapid.T) string {
			var members []string
			for range rapid.IntRange(0, 3).Draw(r, "members") {
				members = append(members, str.Draw(r, "key")+":"+inner.Draw(r, "member"))
			}
			return "{" + strings.Join(members, ",") + "}"
		}),
		rapid.Map(inner, func(s string) string { return " " + s + "\n" }),
	)
}
