package demo

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// slotsOf reads the line before the last.
func slotsOf(t *testing.T, out string) *Slots {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) < 2 {
		t.Fatal("there is no line of the schedules")
	}
	s := &Slots{}
	_, err := fmt.Sscanf(lines[len(lines)-2], "schedules: slots=%d events=%d handled=%d one_shots_fired=%d one_shots_cancelled=%d lost=%d doubled=%d",
		&s.Fired, &s.Events, &s.Handled, &s.OneShots, &s.Cancelled, &s.Lost, &s.Doubled)
	if err != nil {
		t.Fatalf("%q: %v", lines[len(lines)-2], err)
	}
	return s
}

// checkSchedules looks at what a demo of which all is true says of its schedules.
func checkSchedules(t *testing.T, out string, s *Slots) {
	t.Helper()
	// One of each zone and three of the interval are waited for; slots that come together may fire in either order.
	if least := int64(len(tasks) - 1 + intervalRuns); s.Fired < least || s.Events != s.Fired || s.Handled != s.Fired {
		t.Errorf("counted %s; want at least %d slots, each with an event and an effect", s, least)
	}
	if s.OneShots != 1 || s.Cancelled != 1 || s.Lost != 0 || s.Doubled != 0 {
		t.Errorf("counted %s", s)
	}
	job := `\d+ +github:[0-9a-f]{32} +\* \* \* \* \* +SELECT core\.run_scheduled_task\('[0-9a-f-]{36}'\) +nexus_scheduler\n`
	if n := len(regexp.MustCompile(job).FindAllString(out, -1)); n != len(tasks) {
		t.Errorf("cron.job is shown with %d jobs of tasks, want %d", n, len(tasks))
	}
	for _, line := range []string{
		`nexus:tick +\* \* \* \* \* +select core\.tick\(\) +nexus_scheduler\n`,
		// The next run of a job may have begun.
		`Berlin +\* \* \* \* \* +Europe/Berlin +\d\d:\d\d:00 +[1-9]\d* +0 +\S+ +\d+ +(succeeded|running|starting)\n`,
		`New York +\* \* \* \* \* +America/New_York +\d\d:\d\d:00 +[1-9]\d* +0 +\S+ +\d+ +(succeeded|running|starting)\n`,
		`Kolkata +\* \* \* \* \* +Asia/Kolkata +\d\d:\d\d:00 +[1-9]\d* +0 +\S+ +\d+ +(succeeded|running|starting)\n`,
		`pulse +@every 2s +UTC +\d\d:\d\d:\d\d +([3-9]|[1-9]\d+) +\d+ +\S+ +\d+ +(succeeded|running|starting)\n`,
		`office\.reminder +\{"about": "stays"\} +appended `,
		`office\.reminder +\{"about": "is cancelled"\} +cancelled `,
	} {
		if !regexp.MustCompile(line).MatchString(out) {
			t.Errorf("no line matches %s", line)
		}
	}
}

func TestJudgeOfSlots(t *testing.T) {
	t.Parallel()
	good := func() *Slots { return &Slots{Fired: 9, Events: 9, Matched: 9, Handled: 9, OneShots: 1, Cancelled: 1} }
	if err := good().judge(); err != nil {
		t.Errorf("what is right is called wrong: %v", err)
	}
	for name, spoil := range map[string]func(s *Slots){
		"a slot has two events":        func(s *Slots) { s.Events++ },
		"an event is another slot's":   func(s *Slots) { s.Matched-- },
		"a slot has no effect":         func(s *Slots) { s.Handled-- },
		"the one-shot did not fire":    func(s *Slots) { s.OneShots = 0 },
		"nothing stayed cancelled":     func(s *Slots) { s.Cancelled = 0 },
		"a minute is lost":             func(s *Slots) { s.Lost = 1 },
		"an effect is there two times": func(s *Slots) { s.Doubled = 1 },
	} {
		s := good()
		spoil(s)
		if err := s.judge(); !errors.Is(err, ErrWrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
