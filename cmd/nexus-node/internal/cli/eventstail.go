package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/readmodel"
)

func newEventsTail(s *session) *cobra.Command {
	var (
		t     tail
		since string
	)
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Follow the event log: print events as they are committed",
		Long: `Follow the event log, from now or from --since, until Ctrl-C, which ends it with exit code 0. Each event is printed once, when
its transaction has committed: one that commits late comes late, and is not missed. Of transactions that were open when it
began, it shows what they emitted in the quarter of an hour before. With -o json each event is one line.

A database that goes away is waited for.`,
		Example: `  nexus-node events tail -n shop --type 'order.*'
  nexus-node events tail --since 10m -o json | jq -c .payload
  nexus-node events tail --since 2026-11-27T09:00:00Z --limit 100`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if t.log.Since, err = sinceFlag(cmd, since, time.Now()); err != nil {
				return err
			}
			if t.every <= 0 || t.limit < 0 {
				return usage(cmd, "--interval must be above 0, --limit not below")
			}
			if err := typePattern(cmd, t.log.Type); err != nil {
				return err
			}
			return s.amongVisible(cmd, func(c *client) error {
				t.client, t.log.Pool, t.log.Namespace = c, c.pool, c.cfg.Namespace
				err := t.follow(cmd.Context())
				stopped := errors.Is(err, context.Canceled) && cmd.Context().Err() != nil // asked to stop, it has done all it was to do
				return either(stopped, nil, err)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&t.log.Type, "type", "", `only of this event type or pattern, such as "order.*"`)
	f.StringVar(&since, "since", "", "begin with events emitted at or after this time, RFC 3339, or this long ago: 10m")
	f.IntVar(&t.limit, "limit", 0, "end after so many; 0: never")
	f.DurationVar(&t.every, "interval", 500*time.Millisecond, "how often to look")
	return cmd
}

// sinceFlag reads a time, or a duration before now.
func sinceFlag(cmd *cobra.Command, value string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(value); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return timeFlag(cmd, "since", value)
}

// tail prints what is committed, until it has printed enough.
type tail struct {
	*client
	log     readmodel.Tail
	limit   int
	every   time.Duration
	printed int
}

var errEnough = errors.New("enough events")

func (t *tail) follow(ctx context.Context) error {
	failing := 0
	for {
		start := time.Now()
		err := t.log.Look(ctx, t.print)
		wait := t.every
		switch {
		case errors.Is(err, errEnough):
			return nil
		case err != nil && (!db.Unavailable(err) || ctx.Err() != nil):
			return err
		case err != nil:
			if failing++; failing == 1 {
				t.say(note{Warning: "the database is not available, waiting for it: " + err.Error()})
			}
			t.pool.Reset()
			wait = max(wait, time.Second)
		default:
			failing = 0
			// With a transaction that stays open for long there is more to read each time.
			wait = max(wait, 10*time.Since(start))
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}

// print writes one event as one line, and says when it has been enough.
func (t *tail) print(e readmodel.Record) error {
	if err := t.printLine(e); err != nil {
		return err
	}
	if t.printed++; t.printed == t.limit {
		return errEnough
	}
	return nil
}

func (t *tail) printLine(e readmodel.Record) error {
	if t.format == asJSON {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(t.Stdout, "%s\n", harmless(line))
		return err
	}
	texts := e.Texts()
	head := fmt.Sprintf("%s  %s  %s  %s  ", printable(texts[1]), texts[0], printable(texts[2]), printable(texts[3]))
	payload := printable(texts[4])
	if t.Width != nil {
		payload = cut(payload, max(narrowest, t.Width()-columns(head)))
	}
	_, err := fmt.Fprintln(t.Stdout, head+payload)
	return err
}
