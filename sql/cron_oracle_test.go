package nexussql_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/pgdev"
)

// zones holds whatever a zone can do: summer time in both hemispheres, half-hour shifts and offsets, days without a midnight or
// missing altogether, summer time as the exception and the rule, and none at all.
var zones = []string{
	"UTC", "Europe/Berlin", "Europe/Dublin", "Europe/Istanbul", "Europe/Volgograd", "America/New_York", "America/St_Johns", "America/Havana",
	"America/Santiago", "America/Asuncion", "America/Sao_Paulo", "America/Caracas", "America/Nuuk", "America/Scoresbysund",
	"Atlantic/Azores", "Africa/Cairo", "Africa/Casablanca", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Beirut", "Asia/Gaza", "Asia/Amman",
	"Asia/Damascus", "Asia/Tehran", "Asia/Pyongyang", "Australia/Lord_Howe", "Australia/Adelaide", "Pacific/Chatham", "Pacific/Apia",
	"Pacific/Fakaofo", "Pacific/Norfolk", "Pacific/Kwajalein", "Antarctica/Troll",
}

// cronCase is an expression that was made from sets, so that the oracle needs no parser.
type cronCase struct {
	text           string
	fields         [5][]bool // by value
	wildcard, both bool
}

// randomCron writes five fields of all forms of the grammar.
func randomCron(r *rand.Rand) cronCase {
	var (
		c     cronCase
		texts [5]string
		bound = [5][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 6}}
		names = [5]string{3: "jan feb mar apr may jun jul aug sep oct nov dec", 4: "sun mon tue wed thu fri sat"}
		any   = [5]int{20, 25, 60, 75, 60} // percent
	)
	write := func(f, v int) string {
		if names[f] != "" && v <= bound[f][1] && r.IntN(2) == 0 {
			name := strings.Fields(names[f])[v-bound[f][0]]
			if r.IntN(3) == 0 {
				name = strings.ToUpper(name)
			}
			return name
		}
		if r.IntN(10) == 0 {
			return fmt.Sprintf("%02d", v)
		}
		return fmt.Sprint(v)
	}
	for f := range 5 {
		lo, hi := bound[f][0], bound[f][1]
		set := make([]bool, hi+2)
		switch n := r.IntN(100); {
		case n < any[f]:
			texts[f] = "*"
			for v := lo; v <= hi; v++ {
				set[v] = true
			}
		case n < any[f]+15:
			step := 1 + r.IntN(hi)
			texts[f] = fmt.Sprintf("*/%d", step)
			for v := lo; v <= hi; v += step {
				set[v] = true
			}
		default:
			top := hi
			if f == 4 {
				top = 7
			}
			var items []string
			for range 1 + r.IntN(3) {
				a := lo + r.IntN(top-lo+1)
				b := a + r.IntN(top-a+1)
				switch r.IntN(3) {
				case 0:
					items = append(items, write(f, a))
					set[a] = true
				case 1:
					items = append(items, write(f, a)+"-"+write(f, b))
					for v := a; v <= b; v++ {
						set[v] = true
					}
				case 2:
					step := 1 + r.IntN(hi)
					items = append(items, fmt.Sprintf("%s-%s/%d", write(f, a), write(f, b), step))
					for v := a; v <= b; v += step {
						set[v] = true
					}
				}
			}
			texts[f] = strings.Join(items, ",")
		}
		c.fields[f] = set
	}
	if c.fields[4][7] {
		c.fields[4][0] = true
	}
	star := func(f int) bool { return strings.HasPrefix(texts[f], "*") }
	c.wildcard = star(0) || star(1)
	c.both = star(2) || star(4)
	c.text = strings.Join(texts[:], [3]string{" ", "\t", "  "}[r.IntN(3)])
	step := func(f int) bool { return star(f) && texts[f] != "*" && texts[f] != "*/1" }
	full := func(f int) bool { return texts[f] == "*" || texts[f] == "*/1" }
	if step(2) && !full(4) || step(4) && !full(2) || !c.comes() {
		return randomCron(r) // refused
	}
	return c
}

func (c *cronCase) comes() bool {
	for d := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC); d.Year() == 2024; d = d.AddDate(0, 0, 1) {
		if c.day(d) {
			return true
		}
	}
	return false
}

func (c *cronCase) day(d time.Time) bool {
	dom, dow := c.fields[2][d.Day()], c.fields[4][d.Weekday()]
	return c.fields[3][d.Month()] && (c.both && dom && dow || !c.both && (dom || dow))
}

// next is what the wall clock of a zone shows, minute after minute. Dates and times on that clock are written as if it were UTC.
func (c *cronCase) next(loc *time.Location, after time.Time) time.Time {
	if c.wildcard {
		return c.nextOnTheClock(loc, after)
	}
	return c.nextSlot(loc, after)
}

func wall(t time.Time, loc *time.Location) time.Time {
	_, offset := t.In(loc).Zone()
	return t.Add(time.Duration(offset) * time.Second).UTC()
}

// nextOnTheClock looks at each minute of real time, without the days and hours in which none can match. Until the zone's next
// transition its clock runs evenly.
func (c *cronCase) nextOnTheClock(loc *time.Location, after time.Time) time.Time {
	t, limit := after.Truncate(time.Minute).Add(time.Minute), after.AddDate(9, 0, 0)
	for t.Before(limit) {
		_, end := t.In(loc).ZoneBounds()
		if end.IsZero() || end.After(limit) {
			end = limit
		}
		for w := wall(t, loc); t.Before(end); {
			step := time.Minute
			switch {
			case !c.day(w):
				step = w.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(w)
			case !c.fields[1][w.Hour()]:
				step = w.Truncate(time.Hour).Add(time.Hour).Sub(w)
			case c.fields[0][w.Minute()]:
				return t
			}
			t, w = t.Add(step), w.Add(step)
		}
		if first := end.Add(time.Minute - 1).Truncate(time.Minute); t.After(first) {
			t = first // a step went beyond the transition
		}
	}
	return time.Time{}
}

// nextSlot goes through the slots that the calendar has and asks for each when it is.
func (c *cronCase) nextSlot(loc *time.Location, after time.Time) time.Time {
	var best time.Time
	day := wall(after, loc).Truncate(24*time.Hour).AddDate(0, 0, -2)
	for more, n := 3, 0; more > 0 && n < 366*9; n, day = n+1, day.AddDate(0, 0, 1) {
		if !best.IsZero() {
			more-- // days after the first find, since a gap may mix the order
		}
		if !c.day(day) {
			continue
		}
		for h := range 24 {
			for m := range 60 {
				if c.fields[1][h] && c.fields[0][m] {
					at := when(day.Add(time.Duration(h)*time.Hour+time.Duration(m)*time.Minute), loc)
					if at.After(after) && (best.IsZero() || at.Before(best)) {
						best = at
					}
				}
			}
		}
	}
	return best
}

// when is the first instant at which the clock shows w, or if it never does, w by the offset before the gap.
func when(w time.Time, loc *time.Location) time.Time {
	var first, gap time.Time
	for t := w.Add(-26 * time.Hour); t.Before(w.Add(26 * time.Hour)); {
		_, offset := t.In(loc).Zone()
		_, end := t.In(loc).ZoneBounds()
		at := w.Add(-time.Duration(offset) * time.Second)
		if wall(at, loc).Equal(w) && (first.IsZero() || at.Before(first)) {
			first = at
		}
		if end.IsZero() {
			break
		}
		if last := wall(end.Add(-time.Second), loc); last.Before(w) && wall(end, loc).After(w) {
			gap = at
		}
		t = end
	}
	if first.IsZero() {
		return gap
	}
	return first
}

// transitions of a zone from 2005 to 2035.
func transitions(loc *time.Location) (found []time.Time) {
	for t := time.Date(2005, 1, 1, 0, 0, 0, 0, time.UTC).In(loc); t.Year() < 2035; {
		_, end := t.ZoneBounds()
		if end.IsZero() {
			break
		}
		found = append(found, end.UTC())
		t = end
	}
	return found
}

// holds: S4 (50,000 cases, 33 zones, the session's zone changed between), others-dst
func TestNextSlotAgreesWithABruteForceOracle(t *testing.T) {
	expressions, instants := 5000, 10
	if testing.Short() {
		expressions /= 10 // a second server counts no other way
	}
	db := dbtest.New(t)
	r := rand.New(rand.NewPCG(25, 11))
	locs := map[string]*time.Location{}
	turns := map[string][]time.Time{}
	for _, z := range zones {
		loc := serverLocation(t, z)
		locs[z], turns[z] = loc, transitions(loc)
	}
	conn, err := db.Owner.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	wrong := 0
	for batch := range 10 {
		var texts, inZones []string
		var numbers []int32
		var afters, wants []time.Time
		for i := range expressions / 10 {
			c := randomCron(r)
			texts = append(texts, c.text)
			for range instants {
				z := zones[r.IntN(len(zones))]
				after := time.Date(2005+r.IntN(30), 1, 1, 0, r.IntN(366*24*60), 0, 0, time.UTC)
				if near := turns[z]; len(near) > 0 && r.IntN(100) < 85 {
					after = near[r.IntN(len(near))].Add(time.Duration(r.IntN(72*60)-48*60) * time.Minute)
				}
				if r.IntN(4) == 0 {
					after = after.Add(time.Duration(r.IntN(60_000_000)) * time.Microsecond)
				}
				numbers, inZones, afters = append(numbers, int32(i+1)), append(inZones, z), append(afters, after)
				wants = append(wants, c.next(locs[z], after))
			}
		}
		// The session's zone changes from batch to batch: it must not matter.
		if _, err := conn.Exec(t.Context(), fmt.Sprintf("set timezone = '%s'", zones[batch*3])); err != nil {
			t.Fatal(err)
		}
		var got []time.Time
		err := conn.QueryRow(t.Context(), `
			with spec as materialized (select n, core_private.compile_cron(e) s from unnest($1::text[]) with ordinality u(e, n))
			select array_agg(coalesce(core_private.next_slot(s.s, u.z, u.a), '0001-01-01 00:00Z') order by u.i)
			  from unnest($2::int[], $3::text[], $4::timestamptz[]) with ordinality u(n, z, a, i) join spec s using (n)`, texts, numbers, inZones, afters).Scan(&got)
		if err != nil {
			t.Fatal(err)
		}
		for i := range wants {
			if !got[i].Equal(wants[i]) {
				if wrong++; wrong <= 20 {
					loc := locs[inZones[i]]
					t.Errorf("%q %s after %s: SQL says %s, the oracle %s", texts[numbers[i]-1], inZones[i], afters[i].In(loc), got[i].In(loc), wants[i].In(loc))
				}
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d cases differ", wrong, expressions*instants)
	}
}

// Away from transitions robfig/cron, which jobs of other schedulers run on, must agree; it reads what is stored.
// holds: S3
func TestNextSlotAgreesWithRobfigCron(t *testing.T) {
	db := dbtest.New(t)
	r := rand.New(rand.NewPCG(3, 1))
	var texts []string
	var afters []time.Time
	cases := 4000
	if testing.Short() {
		cases /= 10
	}
	for range cases {
		texts = append(texts, randomCron(r).text)
		afters = append(afters, time.Date(2026, 1, 1, 0, 0, r.IntN(10*365*24*3600), 0, time.UTC))
	}
	stored := dbtest.Get[[]string](db, `select array_agg(core_private.compile_cron(e) ->> 'expression' order by n) from unnest($1::text[]) with ordinality u(e, n)`, texts)
	got := dbtest.Get[[]time.Time](db, `select array_agg(core_private.next_slot(core_private.compile_cron(e), 'UTC', a) order by n)
		from unnest($1::text[], $2::timestamptz[]) with ordinality u(e, a, n)`, texts, afters)
	seen := 0
	for i := range texts {
		s, err := cron.ParseStandard(stored[i])
		if err != nil {
			t.Errorf("%q, stored as %q: %v", texts[i], stored[i], err)
			continue
		}
		want := s.Next(afters[i])
		if want.IsZero() {
			continue // it gives up after five years
		}
		seen++
		if !got[i].Equal(want) {
			t.Errorf("%q, stored as %q, after %s: SQL says %s, robfig/cron %s", texts[i], stored[i], afters[i], got[i].UTC(), want)
		}
	}
	if seen < cases*39/40 {
		t.Errorf("only %d cases were compared", seen)
	}
	if i := slices.IndexFunc(stored, func(s string) bool { return strings.Contains(s[strings.LastIndex(s, " "):], "7") }); i >= 0 {
		t.Errorf("a weekday 7 is stored: %q", stored[i])
	}
}

// serverLocation is the zone as the server has it: another Debian has other rules.
func serverLocation(t *testing.T, name string) *time.Location {
	t.Helper()
	if p, err := pgdev.Find(); err == nil && p.Root != "" {
		data, err := os.ReadFile(filepath.Join(p.Root, "usr", "share", "zoneinfo", name))
		if err != nil {
			t.Fatal(err)
		}
		loc, err := time.LoadLocationFromTZData(name, data)
		if err != nil {
			t.Fatal(err)
		}
		return loc
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}
