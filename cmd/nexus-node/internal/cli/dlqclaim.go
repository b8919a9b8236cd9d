package cli

import (
	"cmp"
	"encoding/json"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/deadletter"
)

const (
	claimUsage = "the token of your claim, for one id: see dlq claim"
	forUsage   = "how long, 1s to 24h"
)

func newDLQClaim(s *session) *cobra.Command {
	var (
		flags letterFlags
		d     time.Duration
	)
	cmd := &cobra.Command{
		Use:   "claim [ID...]",
		Short: "Take dead letters for a time, so that nobody else moves them",
		Long: `Take dead letters for a time, so that nobody else moves them, and print them with the token of each claim. They are picked as in
dlq replay; what somebody else holds is passed over. Then dlq replay, resolve or discard with --claim TOKEN, or give them back by
dlq reject. A claim that is not used ends by itself.`,
		Example: `  nexus-node dlq claim -n shop --type order.placed --limit 1 -o json
  nexus-node dlq claim 12 --for 30m`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.limit < 1 {
				return usage(cmd, "--limit is at least 1: what is claimed is shown whole")
			}
			return s.picked(cmd, args, &flags, func(c *client, f deadletter.Filter) error {
				claimed, err := deadletter.Claim(c.ctx(), c.pool, f, d)
				if err != nil {
					return err
				}
				if err := s.printClaimed(claimed); err != nil {
					return err
				}
				if len(f.IDs) > 0 && len(claimed) == 0 {
					return &notFound{"none of these ids is an unresolved dead letter, or somebody else is at work on them", "nexus-node dlq show ID"}
				}
				return nil
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().IntVar(&flags.limit, "limit", 10, "how many at most, oldest first")
	cmd.Flags().DurationVar(&d, "for", 5*time.Minute, forUsage)
	return cmd
}

func (s *session) printClaimed(claimed []deadletter.Claimed) error {
	if s.format == asJSON {
		if claimed == nil {
			claimed = []deadletter.Claimed{}
		}
		return s.printJSON(claimed)
	}
	rows := make([][]string, len(claimed))
	for i, c := range claimed {
		var envelope struct {
			EventType  string `json:"eventType"`
			SourceType string `json:"sourceType"`
		}
		_ = json.Unmarshal(c.Envelope, &envelope) // what was no envelope has no type
		rows[i] = []string{
			strconv.FormatInt(c.ID, 10), c.Token.String(), c.Deadline.Format(time.RFC3339), cmp.Or(envelope.SourceType, envelope.EventType), strconv.Itoa(c.Attempts), c.LastError, string(c.Payload),
		}
	}
	return s.printTable([]string{"dead_letter_id", "claim_token", "deadline", "event_type", "attempts", "last_error", "payload"}, rows)
}

func newDLQExtend(s *session) *cobra.Command {
	var (
		token string
		d     time.Duration
	)
	cmd := &cobra.Command{
		Use:     "extend ID --claim TOKEN",
		Short:   "Keep a claimed dead letter for longer",
		Long:    `Keep a claimed dead letter for longer, counted from now. It exits with 1 where the claim is lost.`,
		Example: `  nexus-node dlq extend 12 --claim 6e0a3c1e-6f0f-4a52-9a43-0c9a2f3f7f51 --for 1h`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			claim, err := claimOf(cmd, args, token)
			if err != nil {
				return err
			}
			return s.connected(cmd, func(c *client) error {
				lost, err := deadletter.Extend(c.ctx(), c.pool, []deadletter.Claimed{claim}, d)
				if err != nil {
					return err
				}
				if len(lost) > 0 {
					return &nexus.Error{
						Code: nexus.CodeClaimLost, Op: "extend_dead_letters", Field: "p_claim_token",
						Message: "the claim of dead letter " + args[0] + " is lost", Hint: "Claim it anew: nexus-node dlq claim " + args[0],
					}
				}
				return s.printDone(deed{"dead_letter", args[0], "claimed for " + d.String(), false})
			})
		},
	}
	cmd.Flags().StringVar(&token, "claim", "", claimUsage)
	cmd.Flags().DurationVar(&d, "for", 5*time.Minute, forUsage)
	return cmd
}

func newDLQReject(s *session) *cobra.Command {
	var token, failure string
	cmd := &cobra.Command{
		Use:   "reject ID --claim TOKEN --error TEXT",
		Short: "Give a claimed dead letter back",
		Long: `Give a claimed dead letter back: it is pending again, its attempts count one more, and the text is its last error. It exits with 1
where the claim is lost.`,
		Example: `  nexus-node dlq reject 12 --claim 6e0a3c1e-6f0f-4a52-9a43-0c9a2f3f7f51 --error "still no such customer"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			claim, err := claimOf(cmd, args, token)
			if err != nil {
				return err
			}
			if failure == "" {
				return usage(cmd, "--error is missing; it says what went wrong")
			}
			return s.connected(cmd, func(c *client) error {
				if err := deadletter.Reject(c.ctx(), c.pool, claim, failure); err != nil {
					return err
				}
				return s.printDone(deed{"dead_letter", args[0], "pending", false})
			})
		},
	}
	cmd.Flags().StringVar(&token, "claim", "", claimUsage)
	cmd.Flags().StringVar(&failure, "error", "", "what went wrong")
	return cmd
}

func newDLQExpire(s *session) *cobra.Command {
	var (
		flags  letterFlags
		note   string
		dryRun bool
	)
	cmd := &cobra.Command{
		Use:   "expire [ID...] --note TEXT",
		Short: "Resolve dead letters that nobody came for in time",
		Long: `Resolve dead letters as expired, without delivering them. The note is kept with each. Letters are picked as in dlq replay. A namespace
does so by itself with its option --expire-unresolved.`,
		Example: `  nexus-node dlq expire -n shop --before 2026-01-01T00:00:00Z --note "of last year" --dry-run`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if note == "" {
				return usage(cmd, "--note is missing; it says why these are not delivered")
			}
			return s.mendLetters(cmd, args, &flags, mending{"expire", dryRun, dryRun},
				func(q nexus.DBTX, f deadletter.Filter, each func(deadletter.Result)) (deadletter.Result, error) {
					return deadletter.ExpireAll(cmd.Context(), q, f, note, each)
				})
		},
	}
	flags.addBounded(cmd)
	cmd.Flags().StringVar(&note, "note", "", "why; kept with each of them")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "do it, say how many, and undo it")
	return cmd
}

// claimOf is the claim that a command line names.
func claimOf(cmd *cobra.Command, args []string, token string) (c deadletter.Claimed, err error) {
	switch {
	case token == "":
		return c, usage(cmd, "--claim is missing: the token that dlq claim printed")
	case len(args) != 1:
		return c, usage(cmd, "--claim goes with one id")
	}
	for _, name := range []string{"source", "trigger", "target", "type", "reason", "before", "after", "limit", "rate", "delay", "preview"} {
		if cmd.Flags().Changed(name) {
			return c, usage(cmd, "--claim goes with one id, and not with --"+name)
		}
	}
	if c.Token, err = uuid.Parse(token); err != nil {
		return c, usage(cmd, "--claim "+quote(token)+" is no token, which is a UUID")
	}
	c.ID, err = letterID(cmd, args[0])
	return c, err
}

// mendClaimed runs a verb on the one dead letter that the claim is of.
func (s *session) mendClaimed(cmd *cobra.Command, args []string, token, state string, dry bool, do func(nexus.DBTX, deadletter.Claimed) error) error {
	claim, err := claimOf(cmd, args, token)
	if err != nil {
		return err
	}
	return s.connected(cmd, func(c *client) error {
		if err := c.change(dry, func(q nexus.DBTX) error { return do(q, claim) }); err != nil {
			return err
		}
		return s.printDone(deed{"dead_letter", args[0], would(dry, state), dry})
	})
}
