// holds: E3

package db_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

func TestInterval(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                       "0.000000s",
		90 * time.Second:        "90.000000s",
		1500 * time.Millisecond: "1.500000s",
		time.Microsecond:        "0.000001s",
		1:                       "0.000001s",
		1001:                    "0.000002s",
		-time.Second:            "-1.000000s",
		-1500:                   "-0.000001s",
		math.MaxInt64:           "9223372036.854776s",
		math.MinInt64:           "-9223372036.854775s",
	} {
		if got := db.Interval(d); got != want {
			t.Errorf("%d ns: got %s, want %s", d, got, want)
		}
	}
}

// What Go writes, Postgres must read as the same point or span, whatever the session's settings.
func TestIntervalsAndTimesArriveExactly(t *testing.T) {
	conn := connect(t, pgx.QueryExecModeCacheStatement)
	for _, style := range []string{"postgres", "postgres_verbose", "sql_standard", "iso_8601"} {
		if _, err := conn.Exec(t.Context(), "select set_config('intervalstyle', $1, false), set_config('timezone', 'Asia/Kathmandu', false)", style); err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(r *rapid.T) {
			d := time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(r, "µs")) * time.Microsecond
			at := time.UnixMicro(rapid.Int64Range(-62135596800e6, 253402300799e6).Draw(r, "at")).In(time.FixedZone("x", rapid.IntRange(-14*3600, 14*3600).Draw(r, "offset")))
			var us, epoch int64
			err := conn.QueryRow(t.Context(), `select (extract(epoch from $1::text::interval) * 1e6)::bigint,
				(extract(epoch from $2::text::timestamptz) * 1e6)::bigint`, db.Interval(d), db.Time(at)).Scan(&us, &epoch)
			if err != nil || us != d.Microseconds() || epoch != at.UnixMicro() {
				r.Fatalf("%s: %s is %d µs, %s is %d: %v", style, db.Interval(d), us, db.Time(at), epoch, err)
			}
		})
	}
}

func TestPolicy(t *testing.T) {
	for want, p := range map[string]nexus.RetryPolicy{
		"":                      {},
		`{"max_attempts":-1}`:   {MaxAttempts: -1},
		`{"jitter":0}`:          {Jitter: -1},
		`{"base":"0.500000s"}`:  {Base: time.Second / 2},
		`{"shape":"wobbly"}`:    {Shape: "wobbly"}, // SQL refuses it
		`{"base":"-1.000000s"}`: {Base: -time.Second},
		`{"max_attempts":5,"shape":"linear","base":"1.000000s","max":"60.000000s","jitter":0.5}`: {
			MaxAttempts: 5, Shape: nexus.Linear, Base: time.Second, Max: time.Minute, Jitter: 0.5,
		},
	} {
		got, err := db.Policy("op", p)
		if err != nil || string(got) != want {
			t.Errorf("%+v: got %s, %v; want %s", p, got, err, want)
		}
	}
	for _, jitter := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := db.Policy("op", nexus.RetryPolicy{Jitter: jitter})
		if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code != nexus.CodeRetryPolicy || e.Field != "jitter" {
			t.Errorf("jitter %v: %v", jitter, err)
		}
	}
}
