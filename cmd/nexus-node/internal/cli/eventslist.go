package cli

import (
	"cmp"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/readmodel"
)

func newEventsList(s *session) *cobra.Command {
	var (
		p                        page
		eventType, since, before string
	)
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List events of the log, the newest first",
		Long: `List events of the log, the newest first, without their payloads, which "events show" has. Of all namespaces they come in the order of
their ids. Events of transactions that are still open are not there yet: "events tail" follows them.`,
		Example: `  nexus-node events list -n shop --type 'order.*'
  nexus-node events list -n shop --since 2026-11-01T00:00:00Z --before 2026-11-02T00:00:00Z -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmp.Or(p.check(cmd), typePattern(cmd, eventType)); err != nil {
				return err
			}
			begin, err := sinceFlag(cmd, since, time.Now())
			if err != nil {
				return err
			}
			end, err := timeFlag(cmd, "before", before)
			if err != nil {
				return err
			}
			return s.list(cmd, p, func(namespace string) readmodel.List {
				return readmodel.Events(readmodel.EventFilter{Namespace: namespace, Type: eventType, Since: begin, Before: end})
			})
		},
	}
	p.add(cmd)
	f := cmd.Flags()
	f.StringVar(&eventType, "type", "", `only of this event type or pattern, such as "order.*"`)
	f.StringVar(&since, "since", "", "only those emitted at or after this time, RFC 3339, or this long ago: 10m")
	f.StringVar(&before, "before", "", "only those emitted before this time, RFC 3339")
	return cmd
}

func newEventsAttempts(s *session) *cobra.Command {
	var p page
	cmd := &cobra.Command{
		Use:   "attempts ID|UID",
		Short: "List the failed attempts of an event, the newest first, with what each failed of",
		Long: `List the failed attempts of an event's deliveries, the newest first: which consumer, which node, the error, and when the next was due.
They are kept for seven days. What the event has come to is said by "events status".`,
		Example: `  nexus-node events attempts 4711
  nexus-node events attempts 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55 -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := eventArg(cmd, args[0])
			if err != nil {
				return err
			}
			if err := p.check(cmd); err != nil {
				return err
			}
			return s.connected(cmd, func(c *client) error {
				// The event names its namespace; only -n still counts.
				if err := c.sees(s.namespace); err != nil {
					return err
				}
				uid := ref.uid.String()
				if !ref.isUID { // errors are found by the UID
					events, err := c.read("look for the event", readmodel.UIDOfEvent, ref.id)
					if err != nil {
						return err
					}
					if len(events) == 0 {
						return noEvent(args[0])
					}
					uid = events[0].Texts()[0]
				}
				return c.printPage(readmodel.Attempts(uid, s.namespace), p)
			})
		},
	}
	p.add(cmd)
	return cmd
}

func noEvent(arg string) error {
	return &notFound{
		"no event " + quote(arg) + " that you may see",
		"events are kept for six months; an id is that of core.event_log, not of a message on a queue",
	}
}
