package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/queue"
)

func newEventsCancel(s *session) *cobra.Command {
	var (
		v    deliveryVerb
		note string
	)
	cmd := &cobra.Command{
		Use:   "cancel ID|UID... --note TEXT",
		Short: "Take back deliveries that wait, so that nobody handles them",
		Long: `Take back the deliveries of events of the namespace that wait for their turn, a retry, a delay or a node that handles their
type. The events stay in the log; what is cancelled is kept like a dead letter, resolved as cancelled, with the note.

A delivery that is being handled is left: "in_flight" says since when and until when it is leased, "busy" that an express batch or
another transaction holds it. Of "dead" ones dlq discard is the verb. The exit code is 0 if each delivery was cancelled.`,
		Example: `  nexus-node events cancel -n shop 4711 4712 --note "ordered by mistake"
  nexus-node events cancel -n shop 4711 --consumer mailer --note "no mail" --dry-run`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if note == "" {
				return usage(cmd, "--note is missing; it says why these are not delivered")
			}
			return v.run(s, cmd, args, func(ctx context.Context, q nexus.DBTX, which queue.Deliveries) ([]queue.DeliveryOutcome, error) {
				return queue.CancelDeliveries(ctx, q, which, note)
			}, queue.Cancelled)
		},
	}
	v.add(cmd)
	cmd.Flags().StringVar(&note, "note", "", "why; kept with each of them")
	return cmd
}

func newEventsRunNow(s *session) *cobra.Command {
	var v deliveryVerb
	cmd := &cobra.Command{
		Use:   "run-now ID|UID...",
		Short: "Make deliveries due that wait for a retry or a delay",
		Long: `Make the deliveries of events of the namespace due that wait for a retry or a delay. Attempts are counted on.

"in_flight" and "busy" ones are being handled; "parked" ones wait for a node that handles their type; of "dead" ones dlq replay is the
verb. The exit code is 0 if each delivery is due.`,
		Example: `  nexus-node events run-now -n shop 4711
  nexus-node events run-now -n shop 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55 --dry-run`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.run(s, cmd, args, queue.RunDeliveriesNow, queue.DueNow, queue.AlreadyDue)
		},
	}
	v.add(cmd)
	return cmd
}

// deliveryVerb is what is done to the deliveries of some events.
type deliveryVerb struct {
	consumer string
	dryRun   bool
}

func (v *deliveryVerb) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&v.consumer, "consumer", "", "only the deliveries to this consumer")
	cmd.Flags().BoolVar(&v.dryRun, "dry-run", false, "do it, say what happened, and undo it")
}

// run prints an answer for each delivery and fails unless all are among the good ones.
func (v *deliveryVerb) run(
	s *session, cmd *cobra.Command, args []string,
	do func(context.Context, nexus.DBTX, queue.Deliveries) ([]queue.DeliveryOutcome, error), good ...queue.Outcome,
) error {
	refs := make([]eventRef, len(args))
	for i, arg := range args {
		var err error
		if refs[i], err = eventArg(cmd, arg); err != nil {
			return err
		}
	}
	return s.inNamespace(cmd, func(c *client) error {
		ids, err := c.eventIDs(args, refs)
		if err != nil {
			return err
		}
		which := queue.Deliveries{Namespace: c.namespace(), EventIDs: ids, Consumer: v.consumer}
		var answers []queue.DeliveryOutcome
		change := func(q nexus.DBTX) (err error) {
			answers, err = do(cmd.Context(), q, which)
			return err
		}
		if err := c.change(v.dryRun, change); err != nil {
			return err
		}
		bad, unknown := 0, 0
		for i := range answers {
			switch a := &answers[i]; {
			case a.Outcome == good[0]:
				a.Outcome = queue.Outcome(would(v.dryRun, string(a.Outcome)))
			case a.Outcome == queue.NotFound:
				unknown++
			case len(good) == 1 || a.Outcome != good[1]:
				bad++
			}
		}
		if err := v.print(s, answers); err != nil {
			return err
		}
		switch {
		case bad > 0:
			return fmt.Errorf("%d of %d were left as they are", bad+unknown, len(answers))
		case unknown > 0:
			return &notFound{fmt.Sprintf("%d of these are no events of namespace %s", unknown, quote(c.cfg.Namespace)), "nexus-node events show ID"}
		}
		return nil
	})
}

func (v *deliveryVerb) print(s *session, answers []queue.DeliveryOutcome) error {
	if s.format == asJSON {
		type answer struct {
			queue.DeliveryOutcome
			DryRun bool `json:"dry_run,omitempty"`
		}
		out := make([]answer, len(answers))
		for i, a := range answers {
			if out[i] = (answer{a, v.dryRun}); v.dryRun {
				out[i].DeadLetterID = 0 // it was taken back
			}
		}
		return s.printJSON(out)
	}
	rows := make([][]string, len(answers))
	for i, a := range answers {
		rows[i] = []string{strconv.FormatInt(a.EventID, 10), a.Consumer, string(a.Outcome), a.Detail}
	}
	return s.printTable([]string{"event_id", "consumer", "outcome", "detail"}, rows)
}

// eventIDs are those that the arguments name. A UID is looked for in the last day.
func (c *client) eventIDs(args []string, refs []eventRef) ([]int64, error) {
	ids := make([]int64, len(refs))
	for i, ref := range refs {
		id, err := c.eventID(ref, time.Time{})
		if err != nil {
			return nil, err
		}
		if id == 0 {
			return nil, &notFound{"no event " + quote(args[i]) + " of the last day that you may see", "nexus-node events status UID --around TIME"}
		}
		ids[i] = id
	}
	return ids, nil
}
