package schedule_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/schedule"
)

// judge is what SQL says: nothing, or code, column, message and hint.
const judge = `create function pg_temp.judge(e text, z text) returns text language plpgsql as $$
	declare m text; h text; c text; s text;
	begin
		perform core_private.compile_cron(e);
		perform core_private.check_timezone(z);
		return '';
	exception when sqlstate 'NX011' or sqlstate 'NX012' then
		get stacked diagnostics m = message_text, h = pg_exception_hint, c = column_name, s = returned_sqlstate;
		return s || ' ' || c || ': ' || m || ' / ' || h;
	end $$`

func judgeOf(t testing.TB, db *dbtest.DB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), db.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), judge); err != nil {
		t.Fatal(err)
	}
	return conn
}

func sqlSays(t testing.TB, conn *pgx.Conn, crons []string) (said []string) {
	t.Helper()
	err := conn.QueryRow(context.Background(), `select array_agg(pg_temp.judge(e, 'UTC') order by n) from unnest($1::text[]) with ordinality u(e, n)`, crons).Scan(&said)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

func goSays(cron, zone string) string {
	err := schedule.Check(cron, zone)
	if err == nil {
		return ""
	}
	var e *nexus.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	return e.Code + " " + e.Field + ": " + e.Message + " / " + e.Hint
}

var expressions = []string{
	"", " ", "* * * * *", "*/5 * * * *", "5 4 * * 7", "0 0 * * 5-7", "0 0 1-7/2 jan-MAR mon,fri", "0 0 1 * 1", "0 0 */2 * 1", "0 0 1 * */2", "0 0 */1 * 1", "0 0 31 2 *", "0 0 29 2 *",
	"@hourly", "@Yearly", "@reboot", "@every 90s", " @every\t1h30m", "@every", "@every 0s", "@every 1.5h", "@every 999999999h", "@every 1m1h", "@everyday", "TZ=UTC * * * * *", "cron_tz=x", "10 seconds", "1 second",
	"* * * *", "* * * * * *", "0 0 * * * root", "0 7 * * * Europe/Berlin", "0 7 * * * utc", "0 0 7 * * MON-FRI", "*/5 * * * * /bin/x -a", "0 0 1 1 * 2030", "5/0 * * * *", "0 0 * * 7/2", "0 0 * FOO *", "0 0 * * fri-FOO", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "5/15 * * * *", "22-2 * * * *", "* 22-0 * * *", "* * * * sat-mon", "* * * * sunday", "* * * foo *",
	"*/0 * * * *", "*/60 * * * *", "1-5/0 * * * *", "1-5/100 * * * *", "1,,2 * * * *", ", * * * *", "1,* * * * *", "*5 * * * *", "0 0 ? * *", "0 0 L * *", "0 0 15W * *", "0 0 * * 6#3", "0 0 $ * *", "H * * * *", "lw * * * *",
	"1-5-7 * * * *", "1/2/3 * * * *", "-1 * * * *", "+1 * * * *", "4294967296 * * * *", "001 * * * *", "a-b * * * *", "1-b * * * *", "0 0 * *\n*", "0 0 * * \u0085", "0 0 * * \u00a0", "0 0 * * \u202e", "\u212a * * * *", "é,1,99 * * * *",
	"* * * * *\u0001", strings.Repeat("*", 45) + " * * * *", strings.Repeat("1,", 600) + "1 * * * *", strings.Repeat("1,", 60) + "99 * * * *", "10-20/" + strings.Repeat("9", 30) + " * * * *", "a\"b * * * *", `a\b * * * *`,
}

// What a hint says to write is accepted in its place.
func TestWhatHintsSayToWriteIsAccepted(t *testing.T) {
	wanted := regexp.MustCompile(`, position (\d+): .* / (?:Write|Split it in two:) "([^"]+)"`)
	written := regexp.MustCompile(`^(?:@?[^ ,]+|[0-9]+ seconds?)`)
	tried := 0
	for _, cron := range append(expressions, "5/7 * * * *", "0 0 * * 7/2", "0 0 * * FRI/2", "59/3 * * * *", "0 0 * * 7-3", "0 22-2/3 * * *", "0 0 * jun-feb *") {
		m := wanted.FindStringSubmatch(goSays(cron, ""))
		if m == nil {
			continue
		}
		tried++
		at, _ := strconv.Atoi(m[1])
		mended := cron[:at-1] + m[2] + strings.TrimPrefix(cron[at-1:], written.FindString(cron[at-1:]))
		if strings.HasPrefix(m[2], "@every") {
			mended = m[2]
		}
		if said := goSays(mended, ""); said != "" {
			t.Errorf("%q is to become %q: %s", cron, mended, said)
		}
	}
	if tried < 12 {
		t.Errorf("%d hints were tried", tried)
	}
}

// What Go says without a database is what SQL says, word for word.
// holds: S3
func TestCheckSaysWhatSQLSays(t *testing.T) {
	conn := judgeOf(t, dbtest.New(t))
	crons := expressions
	r := rand.New(rand.NewPCG(5, 8))
	alphabet := []string{"*", "*/", "/", "-", ",", " ", "  ", "\t", "0", "1", "5", "7", "12", "31", "59", "60", "99", "007", "mon", "SUN", "dec", "feb", "l", "w", "#", "?", "$", "@every ", "@", "s", "m", "h", "é", "\n", "\u0080", "\""}
	for range 1500 {
		whole := expressions[r.IntN(len(expressions))]
		for range 1 + r.IntN(3) { // a seed with something put in, taken out or doubled
			at, token := r.IntN(len(whole)+1), alphabet[r.IntN(len(alphabet))]
			switch r.IntN(4) {
			case 0:
				whole = whole[:at] + whole[min(len(whole), at+1+r.IntN(3)):]
			case 1:
				whole = whole[:at] + whole[at/2:]
			default:
				whole = whole[:at] + token + whole[at:]
			}
		}
		if utf8.ValidString(whole) {
			crons = append(crons, whole)
		}
		var fields []string
		for range 5 {
			var f strings.Builder
			for range 1 + r.IntN(3)*r.IntN(2) {
				f.WriteString(alphabet[r.IntN(len(alphabet))])
			}
			fields = append(fields, f.String())
		}
		crons = append(crons, strings.Join(fields, " "))
		for i := range fields { // most of these are fine
			fields[i] = []string{"*", "*/2", "*/1", "1", "03", "1-5", "1-7", "2-6/2", "1,3", "2-4,5-5/3", "sun", "6-7"}[r.IntN(11+i/4)]
		}
		crons = append(crons, strings.Join(fields, " "))
	}
	accepted, wrong := 0, 0
	for i, want := range sqlSays(t, conn, crons) {
		if want == "" {
			accepted++
		}
		if got := goSays(crons[i], ""); got != want {
			if wrong++; wrong < 10 {
				t.Errorf("%q\n Go:  %s\n SQL: %s", crons[i], got, want)
			}
		}
	}
	if wrong > 0 || accepted < 500 {
		t.Errorf("%d of %d differ, %d are accepted", wrong, len(crons), accepted)
	}
}

// holds: S3
func FuzzCheckSaysWhatSQLSays(f *testing.F) {
	for _, e := range expressions {
		f.Add(e)
	}
	conn := judgeOf(f, dbtest.New(f))
	f.Fuzz(func(t *testing.T, cron string) {
		if !utf8.ValidString(cron) || strings.ContainsRune(cron, 0) {
			if schedule.Check(cron, "") == nil {
				t.Errorf("%q is accepted, and no Postgres could keep it", cron)
			}
			return
		}
		if got, want := goSays(cron, ""), sqlSays(t, conn, []string{cron})[0]; got != want {
			t.Errorf("%q\n Go:  %s\n SQL: %s", cron, got, want)
		}
	})
}

func TestCheckKnowsZones(t *testing.T) {
	db := dbtest.New(t)
	for _, name := range dbtest.Get[[]string](db, "select array_agg(name) from core_private.timezones") {
		if said := goSays("* * * * *", name); said != "" {
			t.Errorf("%s: %s", name, said)
		}
	}
	for _, name := range []string{"europe/berlin", "AMERICA/NEW_YORK", "utc", ""} {
		if said := goSays("* * * * *", name); said != "" {
			t.Errorf("%s: %s", name, said)
		}
	}
	conn := judgeOf(t, db)
	for _, name := range []string{"CET", "EST5EDT", "hst", "+02:00", "UTC+2", "posix/Europe/Berlin", "right/UTC", "localtime", "Local", "Factory", "Zulu", "Mars/Olympus", "../etc/passwd", "/etc/localtime", "Europe/Berlin ", "\u00e9"} {
		var want string
		if err := conn.QueryRow(t.Context(), "select pg_temp.judge('* * * * *', $1)", name).Scan(&want); err != nil {
			t.Fatal(err)
		}
		got := goSays("* * * * *", name)
		// Postgres knows its list and may guess what was meant.
		if i, j := strings.Index(got, " / "), strings.Index(want, " / "); i < 0 || j < 0 || got[:i] != want[:j] {
			t.Errorf("%q\n Go:  %s\n SQL: %s", name, got, want)
		}
	}
}

func TestNextRunsKnowNoLocalTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	want := []time.Time{
		time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC), // there is no 02:30
		time.Date(2026, 3, 30, 0, 30, 0, 0, time.UTC),
	}
	local := time.Local
	t.Cleanup(func() { time.Local = local })
	for _, name := range []string{"UTC", "America/St_Johns", "Pacific/Apia"} {
		if time.Local, err = time.LoadLocation(name); err != nil {
			t.Fatal(err)
		}
		db := dbtest.New(t) // after the change: its connections read the clock at all times
		got, err := schedule.NextRuns(t.Context(), db.Pool, "30 2 * * *", "Europe/Berlin", time.Date(2026, 3, 28, 12, 0, 0, 0, berlin), 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 2 || !got[0].Equal(want[0]) || !got[1].Equal(want[1]) {
			t.Errorf("with TZ=%s: %v, want %v", name, got, want)
		}
		db.Pool.Close()
		db.Owner.Close()
	}
	time.Local = local
	db := dbtest.New(t)
	if _, err := schedule.NextRuns(t.Context(), db.Pool, "30 25 * * *", "", time.Time{}, 2); !errors.Is(err, nexus.ErrInvalid) {
		t.Errorf("hour 25: %v", err)
	}
	if got, err := schedule.NextRuns(t.Context(), db.Pool, "@every 90s", "", time.Time{}, 3); err != nil || len(got) != 3 || got[1].Sub(got[0]) != 90*time.Second {
		t.Errorf("@every 90s: %v, %v", got, err)
	}
}
