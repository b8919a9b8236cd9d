package cli

import (
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/readmodel"
)

func newEvents(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "events",
		Aliases: []string{"event"},
		Short:   "List and follow the event log, show an event, say what became of it and what its attempts failed of, cancel its deliveries, run them now or deliver it again",
		Example: "  nexus-node events show 4711",
	}, newEventsList(s), newEventsTail(s), newEventsShow(s), newEventsStatus(s), newEventsAttempts(s), newEventsCancel(s), newEventsRunNow(s), newEventsReplay(s))
}

func newEventsShow(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID|UID",
		Short: "Show one event of the log, by its id or its UID",
		Long:  `Show one event of the log. The id is found by an index. A UID is not indexed: a large log is read whole for it.`,
		Example: `  nexus-node events show 4711
  nexus-node events show 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55 -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := eventArg(cmd, args[0])
			if err != nil {
				return err
			}
			sql, key := readmodel.EventByID, any(ref.id)
			if ref.isUID {
				sql, key = readmodel.EventByUID, ref.uid.String()
			}
			return s.connected(cmd, func(c *client) error { return c.show("show event", noEvent(args[0]), sql, key) })
		},
	}
}

// eventRef is how a command line names an event.
type eventRef struct {
	id    int64
	uid   uuid.UUID
	isUID bool
}

func eventArg(cmd *cobra.Command, arg string) (eventRef, error) {
	if id, err := strconv.ParseInt(arg, 10, 64); err == nil {
		return eventRef{id: id}, nil
	}
	if uid, err := uuid.Parse(arg); err == nil {
		return eventRef{uid: uid, isUID: true}, nil
	}
	return eventRef{}, usage(cmd, quote(arg)+" is neither an event's id, a whole number, nor its UID")
}
