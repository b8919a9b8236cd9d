package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/deadletter"
	"github.com/nexuspg/nexus/internal/readmodel"
)

// mendAll is one of the functions of deadletter that go on in batches.
type mendAll func(q nexus.DBTX, f deadletter.Filter, each func(deadletter.Result)) (deadletter.Result, error)

const limitUsage = "how many at most, oldest first; 0: all, in batches of 1,000 that each commit"

func newDLQReplay(s *session) *cobra.Command {
	var (
		flags           letterFlags
		payload, claim  string
		opts            deadletter.ReplayOptions
		preview, dryRun bool
	)
	cmd := &cobra.Command{
		Use:   "replay [ID...]",
		Short: "Deliver dead letters again, with attempts counted from the start",
		Long: `Deliver dead letters again to the consumer that gave them up. They are picked by id, or by -n and other flags, oldest
first up to --limit; without any of these nothing is done. --payload delivers another payload than the stored one, for one id.

--preview says what would be picked, by type and reason, and touches nothing. --dry-run does it and rolls it back, so that
it says what is skipped and why.

--rate spreads deliveries over time: they become due one after another. Stopped half way, a replay in batches keeps what it
has done; the same line does the rest.`,
		Example: `  nexus-node dlq replay 12 13
  nexus-node dlq replay -n shop --type order.placed --preview
  nexus-node dlq replay -n shop --type order.placed --dry-run
  nexus-node dlq replay -n shop --reason timeout --limit 0 --rate 50
  nexus-node dlq replay 12 --payload '{"order": 7}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if preview && dryRun {
				return usage(cmd, "--preview and --dry-run are two ways to look; give one")
			}
			if opts.Rate < 0 || opts.Delay < 0 {
				return usage(cmd, "--rate and --delay cannot be negative")
			}
			if claim != "" {
				return s.mendClaimed(cmd, args, claim, "replayed", dryRun, func(q nexus.DBTX, c deadletter.Claimed) error {
					_, err := deadletter.ReplayClaimed(cmd.Context(), q, c, jsonFlag(payload))
					return err
				})
			}
			if preview {
				return s.previewLetters(cmd, args, &flags)
			}
			opts.Payload, opts.DryRun = jsonFlag(payload), dryRun
			return s.mendLetters(cmd, args, &flags, mending{verb: "replay", dry: dryRun},
				func(q nexus.DBTX, f deadletter.Filter, each func(deadletter.Result)) (deadletter.Result, error) {
					return deadletter.ReplayAll(cmd.Context(), q, f, &opts, each)
				})
		},
	}
	flags.addBounded(cmd)
	f := cmd.Flags()
	f.StringVar(&payload, "payload", "", "JSON to deliver in place of the stored payload")
	f.StringVar(&claim, "claim", "", claimUsage)
	f.Float64Var(&opts.Rate, "rate", 0, "deliveries a second, by due times; 0: all at once")
	f.DurationVar(&opts.Delay, "delay", 0, "the first not before this much later: 90s, 2h")
	f.BoolVar(&preview, "preview", false, "say what would be picked, by type and reason, and touch nothing")
	f.BoolVar(&dryRun, "dry-run", false, "do it, say how many and what is skipped, and undo it")
	return cmd
}

func newDLQResolve(s *session) *cobra.Command {
	var (
		flags           letterFlags
		as, note, claim string
		dryRun          bool
	)
	cmd := &cobra.Command{
		Use:   "resolve [ID...] --as RESOLUTION --note TEXT",
		Short: "Resolve dead letters whose effect was had by other means, or is not wanted",
		Long: `Resolve dead letters without delivering them: as handled_by_handler (or handled_by_script) when their effect was had by
other means, as ignored when it is not wanted. The note is kept with each. Letters are picked as in dlq replay.`,
		Example: `  nexus-node dlq resolve 12 --as handled_by_handler --note "refunded by hand"
  nexus-node dlq resolve -n shop --type cart.viewed --as ignored --note "statistics only" --dry-run`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case as == "":
				return usage(cmd, "--as is missing: handled_by_handler or ignored")
			case note == "":
				return usage(cmd, "--note is missing; it says why these are not delivered")
			}
			if claim != "" {
				return s.mendClaimed(cmd, args, claim, "resolved", dryRun, func(q nexus.DBTX, c deadletter.Claimed) error {
					return deadletter.ResolveClaimed(cmd.Context(), q, c, as, note)
				})
			}
			return s.mendLetters(cmd, args, &flags, mending{"resolve", dryRun, dryRun},
				func(q nexus.DBTX, f deadletter.Filter, each func(deadletter.Result)) (deadletter.Result, error) {
					return deadletter.ResolveAll(cmd.Context(), q, f, as, note, each)
				})
		},
	}
	flags.addBounded(cmd)
	cmd.Flags().StringVar(&as, "as", "", "handled_by_handler or ignored")
	cmd.Flags().StringVar(&claim, "claim", "", claimUsage)
	cmd.Flags().StringVar(&note, "note", "", "why; kept with each of them")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "do it, say how many, and undo it")
	return cmd
}

func newDLQDiscard(s *session) *cobra.Command {
	var (
		flags       letterFlags
		note, claim string
		dryRun      bool
	)
	cmd := &cobra.Command{
		Use:   "discard [ID...] --note TEXT",
		Short: "Resolve dead letters without delivering them",
		Long: `Resolve dead letters as discarded. The note is kept with each, for whoever asks later why. Letters are picked as in
dlq replay.`,
		Example: `  nexus-node dlq discard 12 --note "test order"
  nexus-node dlq discard -n shop --reason decode --note "old clients" --dry-run`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if note == "" {
				return usage(cmd, "--note is missing; it says why these are not delivered")
			}
			if claim != "" {
				return s.mendClaimed(cmd, args, claim, "discarded", dryRun, func(q nexus.DBTX, c deadletter.Claimed) error {
					return deadletter.DiscardClaimed(cmd.Context(), q, c, note)
				})
			}
			return s.mendLetters(cmd, args, &flags, mending{"discard", dryRun, dryRun},
				func(q nexus.DBTX, f deadletter.Filter, each func(deadletter.Result)) (deadletter.Result, error) {
					return deadletter.DiscardAll(cmd.Context(), q, f, note, each)
				})
		},
	}
	flags.addBounded(cmd)
	cmd.Flags().StringVar(&claim, "claim", "", claimUsage)
	cmd.Flags().StringVar(&note, "note", "", "why; kept with each of them")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "do it, say how many, and undo it")
	return cmd
}

// picked connects for what is done to the letters that the flags pick.
func (s *session) picked(cmd *cobra.Command, args []string, flags *letterFlags, do func(*client, deadletter.Filter) error) error {
	if !picks(cmd, args) {
		return usage(cmd, "nothing says which dead letters: give ids, -n or another flag to pick by")
	}
	if flags.limit < 0 {
		return usage(cmd, "--limit cannot be negative; 0 means all")
	}
	if err := flags.check(cmd); err != nil {
		return err
	}
	return s.connected(cmd, func(c *client) error {
		f, err := flags.filter(cmd, c.cfg, args)
		if err != nil {
			return err
		}
		return do(c, f)
	})
}

// mending is how mendLetters goes about a verb.
type mending struct {
	verb string
	dry  bool // it says what it would do
	undo bool // and it is taken back here, where the function itself has no dry run
}

// mendLetters runs one of the verbs on what the flags pick and prints the counts.
func (s *session) mendLetters(cmd *cobra.Command, args []string, flags *letterFlags, m mending, do mendAll) error {
	return s.picked(cmd, args, flags, func(c *client, f deadletter.Filter) error { return c.mend(f, m, do) })
}

func (c *client) mend(f deadletter.Filter, m mending, do mendAll) error {
	missing, err := c.notPending(f.IDs)
	if err != nil {
		return err
	}
	var result deadletter.Result
	shown, err := c.mendProgress(f)
	if err != nil {
		return err
	}
	batches := 0
	err = c.change(m.undo, func(q nexus.DBTX) (err error) {
		result, err = do(q, f, func(sofar deadletter.Result) {
			if batches++; batches > 1 || f.Limit == 0 {
				shown.at(sofar.Matched, fmt.Sprintf("%d matched, %d %s, %d %s",
					sofar.Matched, sofar.Done, would(m.dry, "done"), sofar.Skipped, would(m.dry, "skipped")))
			}
		})
		shown.end()
		return err
	})
	if err != nil {
		if result.Done > 0 && !m.dry {
			c.say(note{Text: fmt.Sprintf("%d were done before that and stay done; the same line does the rest", result.Done), Done: result.Done})
		}
		return err
	}
	left, err := c.leftOut(f, result, m.undo)
	if err != nil {
		return err
	}
	if err := c.printResult(m, result, left); err != nil {
		return err
	}
	// Ids that match nothing are a mistake; a filter that matches nothing is an answer.
	switch {
	case len(missing) > 0:
		return &notFound{"not among the unresolved dead letters: " + strings.Join(missing, ", "), "nexus-node dlq show ID"}
	case len(f.IDs) > 0 && result.Matched == 0:
		return &notFound{"none of these ids is picked by the other flags, or somebody else is at work on them", "nexus-node dlq show ID"}
	}
	return nil
}

// mendProgress knows the total of what is picked, where somebody looks on and it takes more than one batch.
func (c *client) mendProgress(f deadletter.Filter) (*progress, error) {
	p := &progress{session: c.session}
	if !c.StderrTerminal || c.format == asJSON || f.Limit > 0 && f.Limit <= mendBatch {
		return p, nil
	}
	f.Limit = either(f.Limit == 0, mostLetters, min(f.Limit, mostLetters))
	groups, err := deadletter.Preview(c.ctx(), c.pool, f, 0)
	p.total = lettersIn(groups)
	return p, err
}

// mendBatch letters are mended in one transaction.
const mendBatch = 1000

// notPending returns those of ids that are no unresolved dead letter, or none that the caller may see.
func (c *client) notPending(ids []int64) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	records, err := c.read("look for dead letters", readmodel.NotPending, ids)
	if err != nil {
		return nil, err
	}
	missing := make([]string, len(records))
	for i, r := range records {
		missing[i] = r.Texts()[0]
	}
	return missing, nil
}

// mostLetters is what one filter picks at most, and so how far what is left is counted.
const mostLetters = 100_000

// leftOut is how many more there are of what the flags pick, where --limit kept them out. What was undone is still among them.
func (c *client) leftOut(f deadletter.Filter, done deadletter.Result, undone bool) (int, error) {
	if f.Limit == 0 || done.Matched < f.Limit {
		return 0, nil
	}
	f.AfterID, f.Limit = done.LastID, mostLetters
	groups, err := deadletter.Preview(c.ctx(), c.pool, f, 0)
	return lettersIn(groups) - either(undone, done.Matched, 0), err
}

func lettersIn(groups []deadletter.Group) (n int) {
	for _, g := range groups {
		n += g.Count
	}
	return n
}

func (s *session) printResult(m mending, r deadletter.Result, left int) error {
	if s.format == asJSON {
		skips := r.Skips
		if skips == nil {
			skips = []deadletter.Skip{}
		}
		out := map[string]any{"matched": r.Matched, "done": r.Done, "skipped": r.Skipped, "skips": skips}
		if m.dry {
			out["dry_run"] = true
		}
		if left > 0 {
			out["left_out"] = left
		}
		return s.printJSON(out)
	}
	names := []string{"matched", "done", "skipped"}
	if m.dry {
		names = []string{"matched", "would " + m.verb, "would skip"}
	}
	values := []string{strconv.Itoa(r.Matched), strconv.Itoa(r.Done), strconv.Itoa(r.Skipped)}
	for _, skip := range r.Skips {
		names = append(names, "why")
		values = append(values, fmt.Sprintf("%d: %s (%s)", skip.Count, skip.Why, someIDs(skip)))
	}
	if left > 0 {
		names, values = append(names, "left out"), append(values, atMost(left, mostLetters-1)+"; --limit 0 takes all")
	}
	return s.printFields(names, values)
}

func someIDs(skip deadletter.Skip) string {
	var ids []string
	for _, id := range skip.IDs {
		ids = append(ids, strconv.FormatInt(id, 10))
	}
	if skip.Count > len(ids) {
		ids = append(ids, "…")
	}
	return strings.Join(ids, ", ")
}

// previewLetters prints what the flags pick. With --limit 0 it looks at the first 100,000.
func (s *session) previewLetters(cmd *cobra.Command, args []string, flags *letterFlags) error {
	return s.picked(cmd, args, flags, func(c *client, f deadletter.Filter) error { return c.preview(f) })
}

func (c *client) preview(f deadletter.Filter) error {
	if f.Limit == 0 {
		f.Limit = mostLetters
	}
	groups, err := deadletter.Preview(c.ctx(), c.pool, f, 3)
	if err != nil {
		return err
	}
	if err := c.printGroups(groups); err != nil {
		return err
	}
	shown := lettersIn(groups)
	if shown < f.Limit {
		return nil
	}
	f.Limit = mostLetters
	all, err := deadletter.Preview(c.ctx(), c.pool, f, 0)
	if n := lettersIn(all); err == nil && (n > shown || n == mostLetters) {
		c.say(note{
			Text:  fmt.Sprintf("%s of %s; --limit 0 takes all", thousands(shown), atMost(n, mostLetters-1)),
			Shown: shown, Left: n - shown, LeftMore: n == mostLetters,
		})
	}
	return err
}

func (s *session) printGroups(groups []deadletter.Group) error {
	if s.format == asJSON {
		if groups == nil {
			groups = []deadletter.Group{}
		}
		return s.printJSON(groups)
	}
	rows := make([][]string, len(groups))
	for i, g := range groups {
		ids := make([]string, len(g.First))
		last := ""
		for j, r := range g.First {
			ids[j] = strconv.FormatInt(r.ID, 10)
			last = r.LastError
		}
		rows[i] = []string{
			strconv.Itoa(g.Count), string(g.Namespace), g.Consumer, g.Type, g.Reason, g.Oldest.Format(time.RFC3339),
			g.Newest.Format(time.RFC3339), g.NotReplayable, strings.Join(ids, ", "), last,
		}
	}
	return s.printTable([]string{
		"count", "namespace", "consumer", "event_type", "reason", "oldest", "newest", "not_replayable", "first_ids", "last_error",
	}, rows)
}
