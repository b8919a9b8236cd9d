package cli

import (
	"context"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/db"
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
			if _, _, err := eventKey(cmd, args[0]); err != nil {
				return err
			}
			_, pool, err := s.connect(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			id, err := eventID(cmd.Context(), pool, args[0], timeOrNull(at))
			if err != nil {
				return err
			}
			records, err := selectRecords(cmd.Context(), pool, "event status",
				`select consumer, state, queue_name, msg_id, attempt, due_at, dead_letter_id, detail
				   from core.event_status($1::int8, $2::bool)`, id, thorough)
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
		},
	}
	cmd.Flags().StringVar(&around, "around", "", "when a UID was emitted, to within an hour, RFC 3339")
	cmd.Flags().BoolVar(&thorough, "thorough", false, "read long queues whole")
	return cmd
}

// eventID is that of the argument, 0 if a UID is not found.
func eventID(ctx context.Context, pool *pgxpool.Pool, arg string, around any) (id int64, err error) {
	if id, err := strconv.ParseInt(arg, 10, 64); err == nil {
		return id, nil
	}
	uid, err := uuid.Parse(arg)
	if err != nil {
		return 0, err
	}
	err = db.Call(ctx, pool, "find_event", "select coalesce(core.find_event($1::text::uuid, $2::timestamptz), 0)", []any{uid.String(), around}, &id)
	return id, err
}
