// Package migrate installs the schema of Nexus and brings an older one up to date.
//
// Everything happens in one transaction on one connection, under an advisory lock of that transaction: killed at any
// statement, it leaves what was there before; run by many at once, one works and the others wait, say so, and find nothing
// left to do. Transaction-scoped locks also pass through a pooler.
//
// The work is cut in three. Looking (inspect.go) reads what the database has and asks for no lock. Deciding (decide.go)
// compares that with the embedded files and yields a list of steps, each a piece of SQL and the role that runs it, or the
// problems that stand in the way, all of them at once and each with the line that mends it. Doing is either running the
// steps (Up) or writing them down (Plan); Dump decides for a database that it cannot see, with SQL that looks for itself.
//
// What changes: migrations not yet applied; function and view files whose hash differs from the one applied last, all of
// them after a migration; functions and views that files created before and create no more, which are dropped; the grants whenever they are not as they were left. When nothing changes, nothing is written and
// nothing is locked.
//
// The installer is the session's login, not a role that it has set. It is a superuser or a role with CREATEROLE and CREATE on
// the database, and becomes nexus_owner for what Nexus owns.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
)

// Options of Up and Plan. The zero value, or nil, is what a usual installation wants.
type Options struct {
	// PgmqSQL is the SQL file of pgmq 1.11 or newer. It is read and used only where no pgmq is installed and the server
	// cannot create it as an extension.
	PgmqSQL io.Reader

	// Logger hears of waiting and, at the level of debugging, of each step; nil means silence.
	Logger *slog.Logger

	// LockTimeout is how long a statement waits for the lock of a table that is in use; 0 means 10 s.
	LockTimeout time.Duration

	// Wait is how long Up waits for another installer; 0 means 5 min.
	Wait time.Duration

	// Trust names roles, besides superusers and who installs, that may own the schemas of extensions, create in them, or be members
	// of the roles that own Nexus. It is remembered in the database.
	Trust []string

	// Repair applies every function, view and grant again, also over what somebody edited in the database.
	Repair bool
}

// Report is what the database has, what this binary wants, and what differs.
type Report struct {
	Version int // of the schema in the database, 0 if there is none
	Want    int // of the schema that this binary brings

	Applied    []string // by this call of Up; for Status what Up would apply
	Drift      []string // functions and views edited or dropped in the database
	Unsafe     []string // owners, row security, policies, triggers, indexes, constraints, sweeps and rights that are not as they were installed; Up puts them back
	Gone       []string // tables and columns that somebody dropped; Up refuses, since what was in them is in backups only
	Orphans    []string // functions and views in the schemas of Nexus that Nexus never created; they are left alone
	Distrusted []string // what Up refuses to run beside: somebody's own in the schemas, roles that may too much; each with its mend

	Missing []string // optional extensions and rights that are not there, each with the line that mends it
}

// Up installs the schema or brings it up to date. The report is returned also with an error, as far as it got.
//
// Errors are of type *[nexus.Error] and of the family [nexus.ErrSchema]: NX501 the database is newer than this binary, NX503
// an extension is missing or too old, NX504 the installer lacks rights, NX505 the file of an applied migration was changed, NX506 something was
// built on a function or view that is to be dropped, NX507 something is not to be trusted,
// NX508 the schema is of before version 0.1.0;
// or they carry Postgres's own code, 55P03 when another installer or a table's user did not finish in time, who is named, 40P01 when it lost
// a deadlock against one five times.
func Up(ctx context.Context, pool *pgxpool.Pool, opts *Options) (*Report, error) {
	return up(ctx, pool, opts, embedded())
}

// Status tells how the database and this binary differ, and changes nothing. It needs a login that can become nexus_owner.
func Status(ctx context.Context, pool *pgxpool.Pool) (*Report, error) {
	return status(ctx, pool, embedded())
}

// Plan writes the SQL that Up would run now, for psql, as one transaction; nothing if there is nothing to do. It changes
// nothing itself. The errors are those of Up.
func Plan(ctx context.Context, pool *pgxpool.Pool, w io.Writer, opts *Options) error {
	return plan(ctx, pool, w, opts, embedded())
}

// tries bounds how often a run is repeated that met nodes or pg_cron's jobs in a deadlock and was chosen to give way.
const tries = 5

func up(ctx context.Context, pool *pgxpool.Pool, opts *Options, want schema) (*Report, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		report, err := install(ctx, pool, o, want)
		if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code != deadlock || try == tries {
			return report, err
		}
		o.Logger.Info("gave way to a user of the tables in a deadlock, beginning again", "try", try, "of", tries)
	}
}

const deadlock = "40P01"

// install does it once. All of it is one transaction, so that a failure leaves nothing behind.
func install(ctx context.Context, pool *pgxpool.Pool, o options, want schema) (*Report, error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, wrap("connect", err)
	}
	defer conn.Release()

	// A look outside the installing transaction: while that one waits for its lock it must hold no other, or it would stand
	// in the way of the installer it waits for.
	work, err := look(ctx, conn.Conn(), o, want)
	if err != nil || len(work.problems) > 0 || len(work.steps) == 0 {
		return work.report, work.failure(err)
	}

	tx, err := begin(ctx, conn.Conn(), pgx.ReadWrite)
	if err != nil {
		return work.report, err
	}
	defer tx.rollback()
	if err := tx.lock(ctx, o); err != nil {
		return work.report, err
	}
	work, err = tx.decide(ctx, o, want)
	var before []string
	for turn := 0; turn < 2 && err == nil && len(work.first) > 0 && len(work.problems) == 0; turn++ {
		if err := tx.run(ctx, o.Logger, work.first); err != nil {
			return work.report, tx.explain(ctx, o.LockTimeout, err)
		}
		if !work.blind {
			before = append(before, work.report.Applied...)
		}
		work, err = tx.decide(ctx, o, want)
	}
	if err != nil || len(work.problems) > 0 {
		return work.report, work.failure(err)
	}
	if err := tx.run(ctx, o.Logger, work.steps); err != nil {
		return work.report, tx.explain(ctx, o.LockTimeout, err)
	}
	after, err := tx.decide(ctx, o.once(), want)
	if err != nil {
		return work.report, err
	}
	after.report.Applied = append(before, work.report.Applied...)
	if err := tx.commit(ctx); err != nil {
		return work.report, err
	}
	return after.report, after.failure(nil)
}

func status(ctx context.Context, pool *pgxpool.Pool, want schema) (*Report, error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, wrap("connect", err)
	}
	defer conn.Release()
	work, err := look(ctx, conn.Conn(), options{}, want)
	if err == nil {
		err = work.blindness()
	}
	return work.report, err
}

func plan(ctx context.Context, pool *pgxpool.Pool, w io.Writer, opts *Options, want schema) error {
	o, err := opts.withDefaults()
	if err != nil {
		return err
	}
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return wrap("connect", err)
	}
	defer conn.Release()
	work, err := look(ctx, conn.Conn(), o, want)
	if err != nil || len(work.problems) > 0 {
		return work.failure(err)
	}
	if err := work.blindness(); err != nil {
		return err
	}
	if len(work.steps) == 0 {
		return nil
	}
	title := fmt.Sprintf("Nexus: schema %d to %d, database %s", work.report.Version, work.report.Want, work.database)
	return writeScript(w, title, work.report.Version, work.steps)
}

// look decides in a transaction that only reads.
func look(ctx context.Context, conn *pgx.Conn, o options, want schema) (decision, error) {
	tx, err := begin(ctx, conn, pgx.ReadOnly)
	if err != nil {
		return decision{}, err
	}
	defer tx.rollback()
	return tx.decide(ctx, o, want)
}

// options are Options with everything set and read.
type options struct {
	Options
	pgmqSQL string
}

func (o *Options) withDefaults() (options, error) {
	var all options
	if o != nil {
		all.Options = *o
	}
	if all.Logger == nil {
		all.Logger = slog.New(slog.DiscardHandler)
	}
	if all.LockTimeout == 0 {
		all.LockTimeout = 10 * time.Second
	}
	if all.Wait == 0 {
		all.Wait = 5 * time.Minute
	}
	if all.PgmqSQL == nil {
		return all, nil
	}
	text, err := io.ReadAll(all.PgmqSQL)
	if err != nil {
		return all, fmt.Errorf("read pgmq's SQL: %w", err)
	}
	all.pgmqSQL = string(text)
	if transactionControl.MatchString(all.pgmqSQL) {
		return all, &nexus.Error{
			Op: "migrate", Code: nexus.CodeExtension, Field: "PgmqSQL",
			Message: "the SQL of pgmq begins or ends a transaction of its own",
			Hint:    "use the file pgmq.sql of a pgmq release as it is",
		}
	}
	return all, nil
}

// once is o without what would have every step run again.
func (o options) once() options {
	o.Repair = false
	return o
}
