// Package doctor looks a database over and says what is wrong, why that matters and which lines mend it.
//
// Run only reads, as the role that is connected, and one check that may not look does not stop the others. A check is a function
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
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// State is the verdict of a check.
type State string

// The states, from good to bad.
const (
	OK      State = "ok"
	Unknown State = "unknown" // the login that asks may not see it, or not all of it
	Warn    State = "warn"    // works, but not as it should, or not for long
	Broken  State = "broken"  // something does not work
)

// Check is what one look found.
type Check struct {
	Name  string   `json:"check"`
	State State    `json:"state"`
	Found string   `json:"found"`
	Why   string   `json:"why"`            // it matters
	Mend  string   `json:"mend,omitempty"` // the lines that mend it, in order; empty when all is well
	Fix   []string `json:"fix,omitempty"`  // SQL that is safe to run unasked and mends it, or a part of it
}

// Worst is the worst state of the checks.
func Worst(checks []Check) State {
	order := []State{OK, Unknown, Warn, Broken}
	worst := 0
	for _, c := range checks {
		worst = max(worst, slices.Index(order, c.State))
	}
	return order[worst]
}

// finding is a Check without what is known beforehand.
type finding struct {
	state State
	found string
	mend  mend
	fix   []string
	goOn  bool // though broken, the rest can be looked at
}

// fixedBy adds SQL that Fix may run, a call of a function a line.
func (f finding) fixedBy(sql ...string) finding {
	f.fix = append(f.fix, sql...)
	return f
}

func ok(format string, args ...any) finding {
	return finding{state: OK, found: fmt.Sprintf(format, args...)}
}

func unknown(m mend, format string, args ...any) finding {
	return finding{state: Unknown, found: fmt.Sprintf(format, args...), mend: m}
}

func warn(m mend, format string, args ...any) finding {
	return finding{state: Warn, found: fmt.Sprintf(format, args...), mend: m}
}

func broken(m mend, format string, args ...any) finding {
	return finding{state: Broken, found: fmt.Sprintf(format, args...), mend: m}
}

// probe is a check that is still to be made.
type probe struct {
	name, why string
	look      func(context.Context, *pgxpool.Pool) (finding, error)
	rows      bool // it looks at rows of namespaces, of which a login sees those of the namespaces that it may read
	decisive  bool // broken, it leaves nothing to look at for those after it, unless the finding says to go on
}

// Run makes all checks. It fails only if ctx ends; a database that cannot be reached is a finding.
func Run(ctx context.Context, pool *pgxpool.Pool) ([]Check, error) {
	var checks []Check
	for _, p := range slices.Concat(server, schema, upkeep, sessions) {
		c, goOn := p.check(ctx, pool)
		if err := ctx.Err(); err != nil {
			return checks, err
		}
		checks = append(checks, c)
		if p.decisive && c.State == Broken && !goOn {
			break
		}
	}
	return checks, nil
}

// patience is how long one check may take: what waits for a lock would keep those from being asked that say who holds it.
const patience = 10 * time.Second

func (p *probe) check(ctx context.Context, pool *pgxpool.Pool) (c Check, goOn bool) {
	look, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	f, err := p.look(look, pool)
	if err == nil && f.state == OK && p.rows {
		f, err = f.asFarAsSeen(look, pool)
	}
	switch {
	case look.Err() != nil && ctx.Err() == nil:
		f = unknown(mend{advice(`see the check "locks", or ask again when less is going on`)}, "no answer within %s", patience)
		f.goOn = true
	case err != nil:
		f = unseen(login(pool), db.Error(ctx, p.name, err))
		if f.state == Unknown && reads(look, pool) {
			f.mend = mend{advice("see the schema, above: a right is gone that is not this login's but that of a role of Nexus")}
		}
	}
	return Check{Name: p.name, State: f.state, Found: f.found, Why: p.why, Mend: f.mend.String(), Fix: f.fix}, f.goOn
}

// reads tells whether the login is a reader already, whom another grant would not help.
func reads(ctx context.Context, pool *pgxpool.Pool) (yes bool) {
	err := pool.QueryRow(ctx, `select pg_catalog.pg_has_role(session_user, r.oid, 'usage') from pg_catalog.pg_roles r where r.rolname = 'nexus_reader'`).Scan(&yes)
	return err == nil && yes
}

// unseen is the finding of a look that failed. Not being allowed to look is no fault of the database.
func unseen(login string, err error) finding {
	e, is := errors.AsType[*nexus.Error](err)
	switch {
	case !is:
		return broken(nil, "%v", err)
	case errors.Is(err, nexus.ErrForbidden):
		return unknown(mend{statement("grant nexus_reader to %s; -- as who installed Nexus", ident(login))}, "not visible: %s", e.Message)
	case errors.Is(err, nexus.ErrUnavailable):
		return broken(mend{advice("see whether the server runs that NEXUS_DATABASE_URL names")}, "%s", strings.Join(strings.Fields(e.Message), " "))
	case e.Hint != "":
		return broken(mend{e.Hint}, "%s", e.Message)
	}
	return broken(nil, "%s (%s)", e.Message, e.Code)
}
