// Package doctor looks a database over and says what is wrong, why that matters and which line mends it.
//
// Run only reads, as whoever is connected, and one check that may not look does not stop the others. A check is a function
// with a name and a reason, in one of four lists: the server, the schema, the upkeep, the sessions and what lies between. Without a connection or a schema
// there is nothing to look at for those that follow. Nothing is unbounded: whatever could be many is counted up to a limit.
//
// Fix runs the mends that are safe: what the upkeep would do by itself, and what undoes nobody's decision. Whatever removes
// something, ends a session, upgrades, or overrides what somebody set is left to people.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// State is the verdict of a check.
type State string

// The states, from good to bad.
const (
	OK     State = "ok"
	Warn   State = "warn"   // works, but not as it should, or not for long
	Broken State = "broken" // something does not work
)

// Check is what one look found.
type Check struct {
	Name  string   `json:"check"`
	State State    `json:"state"`
	Found string   `json:"found"`
	Why   string   `json:"why"`            // it matters
	Mend  string   `json:"mend,omitempty"` // the line that mends it; empty when all is well
	Fix   []string `json:"fix,omitempty"`  // SQL that is safe to run unasked and mends it, or a part of it
}

// Worst is the worst state of the checks.
func Worst(checks []Check) State {
	order := []State{OK, Warn, Broken}
	worst := 0
	for _, c := range checks {
		worst = max(worst, slices.Index(order, c.State))
	}
	return order[worst]
}

// finding is a Check without what is known beforehand.
type finding struct {
	state       State
	found, mend string
	fix         []string
}

// fixedBy adds SQL that Fix may run, a call of a function a line.
func (f finding) fixedBy(sql ...string) finding {
	f.fix = append(f.fix, sql...)
	return f
}

func ok(format string, args ...any) finding {
	return finding{state: OK, found: fmt.Sprintf(format, args...)}
}

func warn(mend, format string, args ...any) finding {
	return finding{state: Warn, found: fmt.Sprintf(format, args...), mend: mend}
}

func broken(mend, format string, args ...any) finding {
	return finding{state: Broken, found: fmt.Sprintf(format, args...), mend: mend}
}

// probe is a check that is still to be made.
type probe struct {
	name, why string
	look      func(context.Context, *pgxpool.Pool) (finding, error)
	decisive  bool // broken, it leaves nothing to look at for those after it
}

// Run makes all checks. It fails only if ctx ends; a database that cannot be reached is a finding.
func Run(ctx context.Context, pool *pgxpool.Pool) ([]Check, error) {
	var checks []Check
	for _, p := range slices.Concat(server, schema, upkeep, sessions) {
		c := p.check(ctx, pool)
		if err := ctx.Err(); err != nil {
			return checks, err
		}
		checks = append(checks, c)
		if p.decisive && c.State == Broken {
			break
		}
	}
	return checks, nil
}

func (p probe) check(ctx context.Context, pool *pgxpool.Pool) Check {
	f, err := p.look(ctx, pool)
	if err != nil {
		f = unseen(db.Error(ctx, p.name, err))
	}
	return Check{Name: p.name, State: f.state, Found: f.found, Why: p.why, Mend: f.mend, Fix: f.fix}
}

// unseen is the finding of a look that failed. Not being allowed to look is no fault of the database.
func unseen(err error) finding {
	e, is := errors.AsType[*nexus.Error](err)
	switch {
	case !is:
		return broken("", "%v", err)
	case errors.Is(err, nexus.ErrForbidden):
		return warn("grant nexus_reader to the login that runs the doctor", "not visible: %s", e.Message)
	case errors.Is(err, nexus.ErrUnavailable):
		return broken("see whether the server runs; NEXUS_DATABASE_URL names it", "%s", strings.Join(strings.Fields(e.Message), " "))
	case e.Hint != "":
		return broken(e.Hint, "%s", e.Message)
	}
	return broken("", "%s (%s)", e.Message, e.Code)
}
