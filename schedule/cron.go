package schedule

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robfig/cron/v3"

	"github.com/nexuspg/nexus"
)

// Check judges a cron expression or "@every" interval and a time zone ("": UTC) without a database: nil, or what core.schedule_task
// would say, [nexus.CodeCron] or [nexus.CodeTimezone]. The message names the field and the position, counted in characters from
// 1; the hint says how to correct it. Zones are those of this machine, so the database, which has its own, has the last word.
//
// Five fields, minute, hour, day, month, weekday: *, */N, or a list of V, V-V and V-V/N; three-letter names of months and
// weekdays; @hourly to @yearly; @every with whole hours, minutes and seconds, from "1s" on. A day and a weekday together mean
// either. Whatever schedulers read differently is refused.
func Check(cronExpression, zone string) error {
	if err := checkCron(cronExpression); err != nil {
		return err
	}
	return checkZone(zone)
}

// The grammar is that of core_private.compile_cron, to the letter of its messages; a test holds the two together.
func checkCron(expression string) error {
	stored, fault := readCron(expression)
	if fault != nil {
		return fault.err(expression)
	}
	// What is stored must mean the same to everybody who reads cron expressions.
	if _, err := cron.ParseStandard(stored); err != nil {
		return &nexus.Error{Op: "check", Code: nexus.CodeCron, Field: "cron_expression", Message: err.Error(), Hint: grammar[fields[0].name]}
	}
	return nil
}

// fault is what is wrong with an expression.
type fault struct {
	field         string
	at            int
	problem, hint string
	silent        bool // the expression is not repeated
}

var printable = regexp.MustCompile(`^[ -~]{1,100}$`)

func (f *fault) err(expression string) error {
	quoted := ""
	if !f.silent && printable.MatchString(expression) {
		quoted = ` "` + expression + `"`
	}
	return &nexus.Error{
		Op: "check", Code: nexus.CodeCron, Field: "cron_expression", Hint: f.hint,
		Message: fmt.Sprintf("cron expression%s: %s, position %d: %s", quoted, f.field, f.at, f.problem),
	}
}

type field struct {
	name   string
	lo, hi int
	names  []string
}

var fields = [5]field{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day", 1, 31, nil},
	{"month", 1, 12, strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")},
	{"weekday", 0, 6, strings.Fields("sun mon tue wed thu fri sat")},
}

var grammar = func() map[string]string {
	values := map[string]string{"minute": "0-59", "hour": "0-23", "day": "1-31", "month": "1-12 or jan-dec", "weekday": "0-7 or sun-sat"}
	for name, v := range values {
		values[name] = "Use *, */N, or a comma list of V, V-V and V-V/N, where V is " + v + "."
	}
	return values
}()

var shorthands = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
	"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}

var (
	control  = regexp.MustCompile("[\x01-\x08\x0a-\x1f\x7f-\u009f]")
	everyish = regexp.MustCompile(`^@every([ \t]|$)`)
	every    = regexp.MustCompile(`^@every[ \t]+(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?$`)
	seconds  = regexp.MustCompile(`^([0-9]+)[ \t]+seconds?$`)
	zoned    = regexp.MustCompile(`^(cron_)?tz=`)
	word     = regexp.MustCompile(`[^ \t]+`)
	step     = regexp.MustCompile(`^\*/([0-9]+)$`)
	item     = regexp.MustCompile(`^([0-9]+|[a-z]+)(?:-([0-9]+|[a-z]+))?(?:/([0-9]+))?$`)
	visible  = regexp.MustCompile(`^[!-~]{1,40}$`)
	zoneName = regexp.MustCompile(`^(utc|gmt|z|[a-z_]+/[a-z_/+0-9-]+)$`)
	cronish  = regexp.MustCompile(`^([-0-9*?,/lw#]+$|(sun|mon|tue|wed|thu|fri|sat)([-,#]|$))`)
	special  = regexp.MustCompile(`^(l|w|h|r|lw)$`)
)

// readCron returns the expression as it is stored.
func readCron(expression string) (string, *fault) {
	whole := func(at int, problem, hint string) (string, *fault) {
		return "", &fault{field: "expression", at: at, problem: problem, hint: hint}
	}
	given := strings.Trim(expression, " \t")
	text := lower(given) // as long as given
	if text == "" {
		return "", &fault{field: "expression", at: 1, silent: true, problem: "it is missing", hint: `Give five fields, such as "30 2 * * *", or "@every 90s".`}
	}
	if !utf8.ValidString(expression) || strings.ContainsRune(expression, 0) {
		return whole(1, "it is not UTF-8 without NUL", "Use plain ASCII.")
	}
	start := len(expression) - len(strings.TrimLeft(expression, " \t")) + 1
	if utf8.RuneCountInString(expression) > 1000 {
		return whole(1001, "it is longer than 1000 characters", "Use ranges and steps in place of long lists.")
	}
	if i := control.FindStringIndex(expression); i != nil {
		return whole(utf8.RuneCountInString(expression[:i[0]])+1, "there is a control character", "Take it out: fields are separated by blanks or tabs.")
	}
	switch {
	case everyish.MatchString(text):
		return readEvery(text, start)
	case text[0] == '@':
		expanded, ok := shorthands[text]
		if !ok {
			return whole(start, "there is no such shorthand", "Use @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually, or @every with an interval.")
		}
		return expanded, nil
	case zoned.MatchString(text):
		return whole(start, "the time zone does not belong here", "Take it out and set the time zone of the task.")
	case seconds.MatchString(text):
		return whole(start, "intervals are written another way", fmt.Sprintf(`Write "@every %ss".`, clip(seconds.FindStringSubmatch(text)[1], 20)))
	}

	places := word.FindAllStringIndex(text, -1)
	at := func(i int) int { return start + utf8.RuneCountInString(text[:places[i][0]]) }
	problem := fmt.Sprintf("expected 5 fields, found %d", len(places))
	if len(places) > 5 {
		return whole(at(5), problem, tooMany(text[places[5][0]:places[5][1]], len(places)))
	} else if len(places) < 5 {
		return whole(start+utf8.RuneCountInString(text), problem, `Give minute, hour, day, month and weekday; "*" stands for any.`)
	}
	var (
		stored [5]string
		sets   [5][]bool
	)
	for i := range fields {
		var f *fault
		from, to := places[i][0], places[i][1]
		if stored[i], sets[i], f = fields[i].read(text[from:to], given[from:to], at(i)); f != nil {
			return "", f
		}
	}
	steps := func(i int) bool { return strings.HasPrefix(stored[i], "*/") }
	if steps(2) && stored[4] != "*" {
		return "", &fault{field: "day", at: at(2), problem: "a step beside a restricted weekday is ambiguous: schedulers differ in whether both must match",
			hint: fmt.Sprintf(`Write "1-31%s" to run when either matches, or make one of the two "*".`, stored[2][1:])}
	}
	if steps(4) && stored[2] != "*" {
		return "", &fault{field: "weekday", at: at(4), problem: "a step beside a restricted day is ambiguous: schedulers differ in whether both must match",
			hint: fmt.Sprintf(`Write "0-6%s" to run when either matches, or make one of the two "*".`, stored[4][1:])}
	}
	if stored[4] == "*" && !comes(sets[2], sets[3]) {
		return "", &fault{field: "day", at: at(2), problem: "none of the months has such a day: it would never run",
			hint: "Choose a day that comes: February has 28 or 29, April, June, September and November have 30."}
	}
	return strings.Join(stored[:], " "), nil
}

func comes(days, months []bool) bool {
	for month, last := range []int{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31} {
		for day := 1; day <= last; day++ {
			if months[month] && days[day] {
				return true
			}
		}
	}
	return false
}

func readEvery(text string, start int) (string, *fault) {
	at := start + len("@every") + len(text[6:]) - len(strings.TrimLeft(text[6:], " \t"))
	m := every.FindStringSubmatch(text)
	if m == nil || m[1]+m[2]+m[3] == "" {
		return "", &fault{field: "interval", at: at, problem: "it is no interval",
			hint: `Write whole hours, minutes and seconds, such as "@every 90s" or "@every 1h30m".`}
	}
	var total int64
	for i, unit := range []int64{3600, 60, 1} {
		n, _ := strconv.ParseInt("0"+m[i+1], 10, 64)
		total += n * unit
	}
	if total < 1 || total > 315360000 {
		return "", &fault{field: "interval", at: at, problem: fmt.Sprintf("%d seconds is out of range", total), hint: "An interval is from 1s to 87600h."}
	}
	return "@every " + strings.TrimLeft(text[6:], " \t"), nil
}

// tooMany is the hint for an expression of more than five fields, by the sixth.
func tooMany(sixth string, n int) string {
	switch {
	case n == 6 && zoneName.MatchString(sixth):
		return "Take the time zone out and set the time zone of the task."
	case !cronish.MatchString(sixth):
		return "That is a line of a crontab: keep its first five fields. What runs is whatever handles the event of the task."
	}
	return "Keep minute, hour, day, month and weekday: there are no seconds and no years. Below a minute use @every."
}

// read returns a field as it is stored, and the values it names. given is the text as it was written, for what is said of it.
func (f *field) read(text, given string, at int) (string, []bool, *fault) {
	set := make([]bool, f.hi+1)
	fill := func(from, to, by int) {
		for v := from; v <= to; v += by {
			set[v%(f.hi+1)] = true
		}
	}
	if text == "*" {
		fill(f.lo, f.hi, 1)
		return text, set, nil
	}
	fail := func(at int, problem, hint string) *fault {
		return &fault{field: f.name, at: at, problem: problem, hint: hint}
	}
	badStep := func(at int, n string) *fault {
		return fail(at, fmt.Sprintf("step %s is not between 1 and %d", clip(n, 20), f.hi),
			fmt.Sprintf("Choose a step from 1 to %d; it counts within one round of the field.", f.hi))
	}
	if m := step.FindStringSubmatch(text); m != nil {
		n := number(m[1])
		if n < 1 || n > f.hi {
			return "", nil, badStep(at+2, m[1])
		}
		fill(f.lo, f.hi, n)
		if n == 1 {
			return "*", set, nil
		}
		return "*/" + strconv.Itoa(n), set, nil
	}
	var stored []string
	written := strings.Split(given, ",")
	for n, it := range strings.Split(text, ",") {
		given := written[n]
		m := item.FindStringSubmatch(it)
		if m == nil || special.MatchString(m[1]) {
			return "", nil, fail(at, unreadable(given), f.mend(it))
		}
		var ends [2]int
		for i, text := range m[1:3] {
			if i == 1 && text == "" {
				ends[1] = ends[0]
				break
			}
			where, given := at, given[:len(m[1])]
			if i == 1 {
				where += len(m[1]) + 1
				given = written[n][len(m[1])+1:][:len(text)]
			}
			v, ok := f.value(text)
			switch top := f.top(); {
			case !ok:
				return "", nil, fail(where, fmt.Sprintf("there is no %s %q", f.name, clip(given, 40)), f.nameMend(text))
			case v < f.lo || v > top:
				return "", nil, fail(where, fmt.Sprintf("%s is not between %d and %d", clip(text, 20), f.lo, top), grammar[f.name])
			}
			ends[i] = v
		}
		by := 1
		if m[3] != "" {
			if by = number(m[3]); by < 1 || by > f.hi {
				return "", nil, badStep(at+strings.Index(it, "/")+1, m[3])
			}
		}
		if m[3] != "" && m[2] == "" {
			from := m[1]
			if ends[0] > f.hi {
				from = strconv.Itoa(f.lo)
			}
			return "", nil, fail(at, fmt.Sprintf("%q has a step but no range", clip(given, 40)),
				fmt.Sprintf(`Write "%s-%d/%s" for every %s from there on.`, from, f.hi, m[3], m[3]))
		}
		if ends[1] < ends[0] {
			first, second := m[1], m[2]
			if ends[0] < f.hi {
				first += "-" + strconv.Itoa(f.hi)
			}
			if ends[1] != f.lo {
				second = strconv.Itoa(f.lo) + "-" + second
			}
			return "", nil, fail(at, fmt.Sprintf("the range %s-%s runs backwards", m[1], m[2]), fmt.Sprintf(`Split it in two: "%s,%s".`, first, second))
		}
		fill(ends[0], ends[1], by)
		stored = append(stored, f.store(m, ends, by))
		at += utf8.RuneCountInString(it) + 1
	}
	return strings.Join(stored, ","), set, nil
}

// store writes an item without what others might read differently: leading zeros, a step of one, a weekday 7.
func (f *field) store(m []string, ends [2]int, by int) string {
	if ends[1] > f.hi {
		if ends[0] == 0 && by == 1 {
			return "0-6"
		}
		var days []string
		for v := ends[0]; v <= ends[1]; v += by {
			days = append(days, strconv.Itoa(v%7))
		}
		return strings.Join(days, ",")
	}
	text := plain(m[1])
	if ends[1] > ends[0] {
		text += "-" + plain(m[2])
		if by > 1 {
			text += "/" + strconv.Itoa(by)
		}
	}
	return text
}

func plain(text string) string {
	if n, err := strconv.Atoi(text); err == nil {
		return strconv.Itoa(n)
	}
	return text
}

// top is the largest value that may be written: Sunday is 7, too.
func (f *field) top() int {
	if f.name == "weekday" {
		return 7
	}
	return f.hi
}

func (f *field) value(text string) (int, bool) {
	if text[0] <= '9' {
		return number(text), true
	}
	for i, name := range f.names {
		if name == text {
			return i + f.lo, true
		}
	}
	return 0, false
}

// number is 100, which is in no range, for what has more than two digits.
func number(text string) int {
	if len(text) > 2 {
		return 100
	}
	n, _ := strconv.Atoi(text)
	return n
}

func unreadable(it string) string {
	switch {
	case it == "":
		return "an item of the list is empty"
	case visible.MatchString(it):
		return fmt.Sprintf(`cannot read "%s"`, it)
	}
	return "cannot read it"
}

func (f *field) mend(it string) string {
	switch {
	case it == "":
		return "Take out the comma, or write a value beside it."
	case it == "?":
		return `Write "*".`
	case strings.Contains(it, "*"):
		return fmt.Sprintf(`"*" stands alone, or as */N with N from 1 to %d.`, f.hi)
	case strings.ContainsAny(it, "lw#$"):
		return "Last days, nearest workdays and nth weekdays do not exist here. " + grammar[f.name]
	}
	return grammar[f.name]
}

func (f *field) nameMend(text string) string {
	if f.names == nil {
		return grammar[f.name]
	}
	for _, name := range f.names {
		if strings.HasPrefix(text, name) {
			return fmt.Sprintf("Write %q: names have three letters.", name)
		}
	}
	return "Names are " + strings.Join(f.names, ", ") + "."
}

// lower knows ASCII only: other letters are in no expression, and some become ASCII when lowered.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

func clip(s string, n int) string { return s[:min(len(s), n)] }
