package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/readmodel"
	"github.com/nexuspg/nexus/operate"
)

func newEventsStatus(s *session) *cobra.Command {
	var (
		around   string
		thorough bool
	)
	cmd := &cobra.Command{
		Use:   "status ID|UID",
		Short: "Say what became of an event, for each consumer",
		Long: `Say what became of an event, for each consumer that it matches: visible (to be claimed now), waiting (on the queue, for its
due time), in_flight, delayed, parked, dead, settled, how its dead letter was resolved, or unknown where the queue is too long to look
through; --thorough reads it whole.

A UID is looked for in the last day, or in the hour before and after --around.`,
		Example: `  nexus-node events status 4711
  nexus-node events status 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55 --around 2026-11-27T09:00:00Z`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := timeFlag(cmd, "around", around)
			if err != nil {
				return err
			}
			ref, err := eventArg(cmd, args[0])
			if err != nil {
				return err
			}
			return s.connected(cmd, func(c *client) error {
				id, err := c.eventID(ref, at)
				if err != nil {
					return err
				}
				records, err := c.read("event status", readmodel.EventStatus, id, thorough)
				if err != nil {
					return err
				}
				if len(records) == 0 {
					return &notFound{
						"no event " + quote(args[0]) + " that you may see, or no consumer takes its type",
						"nexus-node events show ID; a UID is looked for in the last day, or near --around",
					}
				}
				return s.printRecords([]string{"consumer", "state", "queue_name", "msg_id", "attempt", "due_at", "dead_letter_id", "detail"}, records)
			})
		},
	}
	cmd.Flags().StringVar(&around, "around", "", "when a UID was emitted, to within an hour, RFC 3339")
	cmd.Flags().BoolVar(&thorough, "thorough", false, "read long queues whole")
	return cmd
}

// eventID is that of an event, 0 if it is named by a UID that is not found in the last day, or around a time.
func (c *client) eventID(ref eventRef, around time.Time) (int64, error) {
	if !ref.isUID {
		return ref.id, nil
	}
	return operate.FindEvent(c.ctx(), c.pool, ref.uid, around)
}
