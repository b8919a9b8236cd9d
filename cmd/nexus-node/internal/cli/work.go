package cli

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/sqlhandler"
)

func newWork(s *session) *cobra.Command {
	var (
		limit int
		loop  bool
		poll  time.Duration
	)
	cmd := &cobra.Command{
		Use:   "work",
		Short: "Run the handlers in SQL that this login owns, for what is due",
		Long: `Run the handlers in SQL of the namespace that the login of NEXUS_DATABASE_URL owns, for what is due, and say what became of it. With --loop it goes
on until SIGTERM or Ctrl-C, looks each --poll, waits for a database that is away, and says then what it did in all.

Events are claimed in one transaction and handled in another, so that one whose handler kills its session uses an attempt, and becomes a dead
letter in the end. core.work in psql has one transaction for both, and cannot count that.`,
		Example: `  nexus-node work -n shop
  nexus-node work -n shop --loop`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return usage(cmd, "--limit is "+strconv.Itoa(limit)+"; give a number of events, or 0 for all that is due")
			}
			if poll < 10*time.Millisecond {
				return usage(cmd, "--poll is "+poll.String()+"; it takes 10ms and more")
			}
			if loop && cmd.Flags().Changed("limit") {
				return usage(cmd, "--loop goes on, and --limit ends: give one of them")
			}
			return s.inNamespace(cmd, func(c *client) error {
				if !loop {
					did, err := sqlhandler.Work(c.ctx(), c.pool, c.namespace(), limit)
					if err != nil {
						return err
					}
					return s.printWorked(did)
				}
				did, err := c.workOn(poll)
				return errors.Join(err, s.printWorked(did))
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 0, "at most so many events; 0: all that is due")
	cmd.Flags().BoolVar(&loop, "loop", false, "go on until SIGTERM or Ctrl-C")
	cmd.Flags().DurationVar(&poll, "poll", time.Second, "with --loop: between two looks")
	return cmd
}

// workOn works until the command is told to end, which is no error.
func (c *client) workOn(poll time.Duration) (all sqlhandler.Counts, err error) {
	away := false
	for {
		did, err := sqlhandler.Work(c.ctx(), c.pool, c.namespace(), 0)
		all.Handled, all.Retried = all.Handled+did.Handled, all.Retried+did.Retried
		all.Buried, all.Released = all.Buried+did.Buried, all.Released+did.Released
		switch {
		case over(c.ctx()):
			return all, nil
		case err != nil && !errors.Is(err, nexus.ErrUnavailable):
			return all, err
		case err != nil && !away:
			c.say(note{Warning: "the database is away, and waited for: " + err.Error()})
		}
		away = err != nil
		if !pause(c.ctx(), poll) {
			return all, nil
		}
	}
}

func over(ctx context.Context) bool { return ctx.Err() != nil }

// pause waits, and says whether the context still goes on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func (s *session) printWorked(did sqlhandler.Counts) error {
	if s.format == asJSON {
		return s.printJSON(map[string]int{"handled": did.Handled, "retried": did.Retried, "buried": did.Buried, "released": did.Released})
	}
	return s.printFields([]string{"handled", "retried", "buried", "released"},
		[]string{strconv.Itoa(did.Handled), strconv.Itoa(did.Retried), strconv.Itoa(did.Buried), strconv.Itoa(did.Released)})
}
