package cli

import (
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

func newEvents(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "events",
		Aliases: []string{"event"},
		Short:   "List and follow the event log, show an event, say what became of it and what its attempts failed of, cancel its deliveries or run them now",
		Example: "  nexus-node events show 4711",
	}, newEventsList(s), newEventsTail(s), newEventsShow(s), newEventsStatus(s), newEventsAttempts(s), newEventsCancel(s), newEventsRunNow(s))
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
			where, key, err := eventKey(cmd, args[0])
			if err != nil {
				return err
			}
			_, pool, err := s.connect(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			records, err := selectRecords(cmd.Context(), pool, "show event",
				"select * from core.event_log where "+where+" order by emitted_at limit 1", key)
			if err != nil {
				return err
			}
			if len(records) == 0 {
				return noEvent(args[0])
			}
			return s.printRecord(records[0])
		},
	}
}

func eventKey(cmd *cobra.Command, arg string) (where string, key any, err error) {
	if id, err := strconv.ParseInt(arg, 10, 64); err == nil {
		return "event_id = $1::bigint", id, nil
	}
	if uid, err := uuid.Parse(arg); err == nil {
		return "event_uid = $1::text::uuid", uid.String(), nil
	}
	return "", nil, usage(cmd, quote(arg)+" is neither an event's id, a whole number, nor its UID")
}
