package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	nexussql "github.com/nexuspg/nexus/sql"
)

// The test binary runs itself again as a node process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asWorker {
		beWorker()
	}
	os.Exit(m.Run())
}

// log is where a run tells its story: to the test.
type log struct{ t *testing.T }

func (l log) Write(b []byte) (int, error) {
	l.t.Log(strings.TrimRight(string(b), "\n"))
	return len(b), nil
}

func options(t *testing.T) Options {
	t.Helper()
	command, err := workerCommand()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Seed: 9, Rounds: 2, Events: 500, Strikes: 10, Length: 12 * time.Second, Worker: command, Out: log{t}, Verbose: true}
}

// The short form: a plan that is always the same, with two rounds of it, or one.
// holds: chaos (also `make chaos`)
func TestNothingIsLost(t *testing.T) {
	o := options(t)
	if testing.Short() {
		o.Rounds, o.Events, o.Length = 1, 300, 8*time.Second
	}
	result, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if result.Events < o.Events*o.Rounds/2 || result.Effects == 0 || result.DeadLetters == 0 || result.Replayed == 0 {
		t.Errorf("the run did not do much: %+v", result)
	}
}

// body is the text of a function as its file has it.
func body(t *testing.T, function string) string {
	t.Helper()
	for _, f := range nexussql.Functions() {
		if strings.Contains(f.Body, "create or replace function "+function+"(") {
			return f.Body
		}
	}
	t.Fatalf("no file creates %s", function)
	return ""
}

// The text that bugs replace has to be there: a function that was rewritten leaves no bug behind that takes out nothing.
func TestBugsCanBePlanted(t *testing.T) {
	for _, p := range plants {
		for _, e := range p.edits {
			if _, missing := e.apply(body(t, e.function)); missing != "" {
				t.Errorf("%s: %s does not hold %q", p.name, e.function, missing)
			}
		}
	}
}

// A checker that finds nothing where there is something proves nothing: each bug is planted in turn, and has to be found.
func TestPlantedBugsAreFound(t *testing.T) {
	if os.Getenv("NEXUS_TEST_LONG") == "" {
		t.Skip("plants one bug after the other, which takes minutes: make test-long sets NEXUS_TEST_LONG")
	}
	for _, p := range plants {
		t.Run(p.name, func(t *testing.T) {
			o := options(t)
			o.Plant, o.Rounds = p.name, 12 // it ends with the first breach
			result, err := Run(t.Context(), o)
			if !errors.Is(err, errBreach) {
				t.Fatalf("%s: the checker finds nothing (%v)", p.why, err)
			}
			if !slices.ContainsFunc(result.Breaches, func(b breach) bool { return slices.Contains(p.found, b.kind) }) {
				t.Errorf("%s: none of the breaches is of a kind of %v", p.why, p.found)
			}
		})
	}
}
