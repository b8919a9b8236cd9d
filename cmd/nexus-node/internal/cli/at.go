package cli

import (
	"cmp"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/readmodel"
	"github.com/nexuspg/nexus/schedule"
)

func newAt(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "at",
		Short:   "Schedule events that are emitted once, list, move and cancel them",
		Example: "  nexus-node at list -n shop",
	}, newAtSchedule(s), newAtList(s), newAtShow(s), newAtReschedule(s), newAtCancel(s))
}

// whenFlags are the two ways to give a time.
type whenFlags struct {
	at string
	in time.Duration
}

func (w *whenFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&w.at, "at", "", "emit it then, RFC 3339: 2026-12-01T09:00:00+01:00")
	cmd.Flags().DurationVar(&w.in, "in", 0, "emit it this much later by the database's clock: 90s, 2h")
}

// check refuses a command line that gives no time, or two.
func (w *whenFlags) check(cmd *cobra.Command) error {
	if (w.at != "") == cmd.Flags().Changed("in") {
		return usage(cmd, "give the time by --at or by --in")
	}
	_, err := timeFlag(cmd, "at", w.at)
	return err
}

func (w *whenFlags) time(c *client) (time.Time, error) {
	if w.at != "" {
		return timeFlag(c.cmd, "at", w.at)
	}
	now, err := readmodel.Now(c.ctx(), c.pool)
	return now.Add(w.in), err
}

func newAtSchedule(s *session) *cobra.Command {
	var (
		opts                schedule.EventOptions
		when                whenFlags
		id, file            string
		headers             []string
		causation, authored string
	)
	cmd := &cobra.Command{
		Use:   "schedule TYPE [PAYLOAD] --at TIME",
		Short: "Emit an event once, at a time",
		Long: `Emit an event into the namespace once, at a time or soon after. What is printed is its schedule_id, which becomes the event's
UID. The payload is JSON: the second argument, or a file, or, where either is "-", what comes on stdin. Without one it is {}.`,
		Example: `  nexus-node at schedule -n shop order.reminded '{"order": 7}' --in 48h
  nexus-node at schedule -n shop sale.opened --at 2026-12-01T09:00:00+01:00 --id 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := when.check(cmd); err != nil {
				return err
			}
			payload, err := s.payload(cmd, args[1:], file)
			if err != nil {
				return err
			}
			if opts.Headers, err = headerMap(cmd, headers); err != nil {
				return err
			}
			if opts.AuthoredAt, err = timeFlag(cmd, "authored-at", authored); err != nil {
				return err
			}
			if opts.ID, err = uuidFlag(cmd, "id", id); err != nil {
				return err
			}
			if opts.CausationUID, err = uuidFlag(cmd, "causation-uid", causation); err != nil {
				return err
			}
			return s.inNamespace(cmd, func(c *client) error {
				at, err := when.time(c)
				if err != nil {
					return err
				}
				scheduled, err := schedule.ScheduleEvent(cmd.Context(), c.pool, c.namespace(), args[0], payload, at, &opts)
				if err != nil {
					return err
				}
				return s.printDone(deed{kind: "schedule_id", name: scheduled.String(), state: "scheduled"})
			})
		},
	}
	when.add(cmd)
	f := cmd.Flags()
	f.StringVarP(&file, "file", "f", "", `read the payload from this file; "-" is stdin`)
	f.StringVar(&id, "id", "", "a UUID; the same again with the same content changes nothing")
	f.StringVar(&opts.OrderingKey, "ordering-key", "", "picks the lane in ordered consumers")
	f.StringArrayVar(&headers, "header", nil, "NAME=VALUE; may be repeated")
	f.StringVar(&opts.Producer, "producer", "", "recorded as the node that produced the event")
	f.StringVar(&opts.CorrelationID, "correlation-id", "", "what the event belongs to")
	f.StringVar(&causation, "causation-uid", "", "UID of the event that caused this one")
	f.IntVar(&opts.Priority, "priority", 0, "1 (first, the default) to 4 (last), for consumers with levels")
	f.BoolVar(&opts.Broadcast, "broadcast", false, "to each node of the namespace as well, those there are then")
	f.StringVar(&authored, "authored-at", "", "when it happened, RFC 3339; default: when it was scheduled")
	f.StringArrayVar(&opts.Tags, "tag", nil, "a tag; may be repeated")
	return cmd
}

func uuidFlag(cmd *cobra.Command, name, value string) (uuid.UUID, error) {
	if value == "" {
		return uuid.Nil, nil
	}
	id, err := uuid.Parse(value)
	if err != nil {
		return id, usage(cmd, "--"+name+" is "+quote(value)+"; it takes a UUID")
	}
	return id, nil
}

// uuidArg is an argument that names a thing by its UUID.
func uuidArg(cmd *cobra.Command, what, arg string) (uuid.UUID, error) {
	id, err := uuid.Parse(arg)
	if err != nil {
		return id, usage(cmd, quote(arg)+" is not "+what+", which is a UUID")
	}
	return id, nil
}

func scheduleID(cmd *cobra.Command, arg string) (uuid.UUID, error) {
	return uuidArg(cmd, "a schedule_id", arg)
}

func newAtList(s *session) *cobra.Command {
	var (
		status, eventType string
		p                 page
	)
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List scheduled events, the next one first",
		Example: `  nexus-node at list -n shop --type 'order.*'
  nexus-node at list -n "" --status failed -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmp.Or(oneOf(cmd, "status", status, "pending", "appended", "cancelled", "failed"), typePattern(cmd, eventType)); err != nil {
				return err
			}
			return s.list(cmd, p, func(namespace string) readmodel.List { return readmodel.ScheduledEvents(namespace, status, eventType) })
		},
	}
	cmd.Flags().StringVar(&status, "status", "pending", "pending, appended, cancelled or failed")
	cmd.Flags().StringVar(&eventType, "type", "", `only of this event type or pattern, such as "order.*"`)
	p.add(cmd)
	return cmd
}

func newAtShow(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "Show one scheduled event whole, whatever became of it",
		Example: "  nexus-node at show 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55 -o json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := scheduleID(cmd, args[0])
			if err != nil {
				return err
			}
			return s.connected(cmd, func(c *client) error {
				missing := &notFound{"no scheduled event " + id.String() + " that you may see", "they are kept 30 days after they were emitted or cancelled"}
				return c.show("show scheduled event", missing, readmodel.ScheduledEvent, id.String())
			})
		},
	}
}

func newAtReschedule(s *session) *cobra.Command {
	var (
		when   whenFlags
		dryRun bool
	)
	cmd := &cobra.Command{
		Use:   "reschedule ID --at TIME",
		Short: "Move a pending event to another time",
		Example: `  nexus-node at reschedule 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55 --at 2026-12-01T10:00:00+01:00
  nexus-node at reschedule 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55 --in 1h --dry-run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := when.check(cmd); err != nil {
				return err
			}
			return s.changeEvent(cmd, args[0], dryRun, func(c *client, q nexus.DBTX, id uuid.UUID) (schedule.Outcome, error) {
				at, err := when.time(c)
				if err != nil {
					return "", err
				}
				return schedule.RescheduleEvent(cmd.Context(), q, id, at)
			})
		},
	}
	when.add(cmd)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "do it, say what happened, and undo it")
	return cmd
}

func newAtCancel(s *session) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "cancel ID",
		Short: "Take a pending event back",
		Long: `Take a pending event back. The answer is true: of an event that is emitted at this very moment one hears "cancelled" and it is not
emitted, or "already_appended" and it is. Only "cancelled" exits with 0.`,
		Example: `  nexus-node at cancel 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55
  nexus-node at cancel 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55 --dry-run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.changeEvent(cmd, args[0], dryRun, func(_ *client, q nexus.DBTX, id uuid.UUID) (schedule.Outcome, error) {
				return schedule.CancelScheduledEvent(cmd.Context(), q, id)
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "do it, say what happened, and undo it")
	return cmd
}

// changeEvent runs one of the two verbs, prints its answer, and fails where that is not what was wanted.
func (s *session) changeEvent(cmd *cobra.Command, arg string, undo bool, do func(*client, nexus.DBTX, uuid.UUID) (schedule.Outcome, error)) error {
	id, err := scheduleID(cmd, arg)
	if err != nil {
		return err
	}
	return s.connected(cmd, func(c *client) error {
		var answer schedule.Outcome
		change := func(q nexus.DBTX) (err error) {
			answer, err = do(c, q, id)
			return err
		}
		if err := c.change(undo, change); err != nil {
			return err
		}
		state := string(answer)
		if answer == schedule.Rescheduled || answer == schedule.Cancelled {
			state = would(undo, state)
		}
		if err := s.printDone(deed{"schedule_id", id.String(), state, undo}); err != nil {
			return err
		}
		switch answer {
		case schedule.AlreadyAppended:
			return fmt.Errorf("event %s was already emitted", id)
		case schedule.NotFound:
			return &notFound{"no pending event " + id.String(), "nexus-node at show " + id.String()}
		}
		return nil
	})
}
