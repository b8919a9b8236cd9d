package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// purgeBatch messages are removed in one transaction.
const purgeBatch = 10_000

type purged struct {
	Removed  int64 `json:"removed"`
	InFlight int64 `json:"in_flight"` // among the removed
	Delayed  int64 `json:"delayed"`
	Parked   int64 `json:"parked"`
	DryRun   bool  `json:"dry_run,omitempty"`
}

func newQueuePurge(s *session) *cobra.Command {
	var (
		confirm      string
		dead, dryRun bool
	)
	cmd := &cobra.Command{
		Use:   "purge [QUEUE] --confirm QUEUE",
		Short: "Remove all messages of a queue for good",
		Long: `Remove all messages of a queue, by default the main queue of the namespace: those in flight, delayed and parked among them.
Their events stay in the log and no dead letters are made. On a dead-letter queue it removes copies only: dead letters are
resolved by dlq. The name is asked for twice. It works in batches that each commit; stopped, it has removed some.

--dry-run removes them in one transaction, counts, and rolls back: it locks them meanwhile.`,
		Example: `  nexus-node queue purge core_events_shop --confirm core_events_shop --dry-run
  nexus-node queue purge -n shop --dead-letters --confirm core_events_shop_dlq`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, pool, err := s.connect(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			queue, err := queueName(cmd.Context(), cfg, pool, args, dead)
			if err != nil {
				return err
			}
			shown, err := s.purgeProgress(cmd.Context(), pool, queue)
			if err != nil {
				return err
			}
			total := purged{DryRun: dryRun}
			purge := func(q nexus.DBTX) error {
				defer shown.end()
				for {
					var p purged
					err := db.Call(cmd.Context(), q, "purge_queue",
						"select removed, in_flight, delayed, parked from core.purge_queue($1::text, $2::text, $3::int)",
						[]any{queue, confirm, purgeBatch}, &p.Removed, &p.InFlight, &p.Delayed, &p.Parked)
					if err != nil {
						return err
					}
					total.Removed += p.Removed
					total.InFlight += p.InFlight
					total.Delayed += p.Delayed
					total.Parked += p.Parked
					if p.Removed+p.Delayed+p.Parked < purgeBatch {
						return nil
					}
					shown.at(int(total.Removed), fmt.Sprintf("%d %s, %d delayed, %d parked", total.Removed, would(dryRun, "removed"), total.Delayed, total.Parked))
				}
			}
			if dryRun {
				err = rolledBack(cmd.Context(), pool, purge)
			} else {
				err = purge(pool)
			}
			if err != nil {
				return err
			}
			if s.format == asJSON {
				return s.printJSON(total)
			}
			names := []string{"removed", "in_flight", "delayed", "parked"}
			if dryRun {
				names = []string{"would remove", "in_flight, of those", "would remove delayed", "would remove parked"}
			}
			return s.printFields(names, []string{
				strconv.FormatInt(total.Removed, 10), strconv.FormatInt(total.InFlight, 10),
				strconv.FormatInt(total.Delayed, 10), strconv.FormatInt(total.Parked, 10),
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&confirm, "confirm", "", "the queue's name once more")
	f.BoolVar(&dead, "dead-letters", false, "the dead-letter queue of the namespace")
	f.BoolVar(&dryRun, "dry-run", false, "do it, count, and roll back")
	return cmd
}

// purgeProgress knows how long the queue is, where somebody looks on.
func (s *session) purgeProgress(ctx context.Context, pool *pgxpool.Pool, queue string) (*progress, error) {
	p := &progress{session: s}
	if !s.StderrTerminal || s.format == asJSON {
		return p, nil
	}
	records, err := selectRecords(ctx, pool, "look how long the queue is",
		`select coalesce(queue_length, 0) as queue_length from core.queue_metrics where queue_name = $1::text`, queue)
	if err == nil && len(records) > 0 {
		_, err = fmt.Sscan(records[0].texts()[0], &p.total)
	}
	return p, err
}
