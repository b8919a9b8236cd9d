package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/readmodel"
	"github.com/nexuspg/nexus/outbox"
)

func newOutbox(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "outbox",
		Short:   "Register outbox queues, put messages on them, look at their lanes and have these go on",
		Example: "  nexus-node outbox lanes -n shop payments",
	}, newOutboxQueues(s), newOutboxLanes(s), newOutboxPartitions(s), newOutboxRegister(s), newOutboxEnqueue(s),
		newLaneSwitch(s, "pause", "Let nobody take up more messages of a lane", "paused", "was paused", outbox.Pause),
		newLaneSwitch(s, "resume", "Have a lane go on that was paused, has halted, or waits for an attempt", "resumed", "went on", outbox.Resume),
		newLaneRelease(s), newLaneSkip(s), newOutboxRepartition(s), newOutboxReplay(s), newOutboxDrop(s), newOutboxRebase(s))
}

func newOutboxQueues(s *session) *cobra.Command {
	cmd := s.newList("List the outbox queues of the namespace, or of all, with their settings", `  nexus-node outbox list -n shop
  nexus-node outbox list -n "" -o json`, readmodel.OutboxQueues)
	cmd.Aliases = append(cmd.Aliases, "queues")
	return cmd
}

func newOutboxLanes(s *session) *cobra.Command {
	var p page
	cmd := &cobra.Command{
		Use:   "lanes QUEUE",
		Short: "List the lanes of a queue or an ordered consumer: how far each is, how far behind, who holds it, and why it does not go on",
		Example: `  nexus-node outbox lanes -n shop payments
  nexus-node outbox lanes -n shop payments -o json | jq '.[] | select(.why)'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.check(cmd); err != nil {
				return err
			}
			return s.amongVisible(cmd, func(c *client) error {
				found, err := c.read("list lanes", readmodel.HasLanes, c.cfg.Namespace, args[0])
				if err != nil {
					return err
				}
				if len(found) == 0 {
					return &notFound{
						"no outbox queue and no ordered consumer " + quote(args[0]) + " that you may see", "nexus-node outbox list and nexus-node consumer list name them",
					}
				}
				return c.printPage(readmodel.Lanes(c.cfg.Namespace, args[0]), p)
			})
		},
	}
	p.add(cmd)
	return cmd
}

func newOutboxPartitions(s *session) *cobra.Command {
	var p page
	cmd := &cobra.Command{
		Use:   "partitions",
		Short: "List full partitions of messages of lanes, of all namespaces, and what keeps each from being dropped",
		Long: `List full partitions of messages of lanes, of all namespaces, and what keeps each from being dropped: a lane that has messages left in it, a
transaction that may still write to it, or a lock. One that has been emptied takes no room and can wait; one that nothing keeps is dropped by
the next sweep.`,
		Example: `  nexus-node outbox partitions
  nexus-node outbox partitions -o json | jq '.[] | select(.kind == "transaction") | .pid'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.list(cmd, p, func(string) readmodel.List { return readmodel.LanePartitions() })
		},
	}
	p.add(cmd)
	return cmd
}

func newOutboxRegister(s *session) *cobra.Command {
	var (
		opts    outbox.QueueOptions
		profile string
		lanes   int
	)
	cmd := &cobra.Command{
		Use:   "register NAME --lanes N",
		Short: "Make an outbox queue, or see that there is one with these settings",
		Long: `Make an outbox queue, or see that there is one with these settings. What is left out is as it is, of a new queue the default. How many
lanes there are bounds how many messages are handled at once; outbox repartition changes it.`,
		Example: `  nexus-node outbox register -n shop payments --lanes 8
  nexus-node outbox register -n shop ledger --lanes 1 --strict --halt`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Profile = outbox.Profile(profile)
			return s.inNamespace(cmd, func(c *client) error {
				made, err := outbox.RegisterQueue(c.ctx(), c.pool, c.namespace(), args[0], lanes, &opts)
				if err != nil {
					return err
				}
				return s.printDone(deed{kind: "outbox queue", name: args[0], state: either(made, "registered", "was there")})
			})
		},
	}
	f := cmd.Flags()
	f.IntVar(&lanes, "lanes", 0, "how many lanes, 1 to 4,096")
	f.StringVar(&profile, "profile", "", "how processors pace themselves: default, low_latency, high_throughput or relaxed")
	f.BoolVar(&opts.Strict, "strict", false, "messages of a lane are in the order in which their transactions commit")
	f.IntVar(&opts.MaxBodyBytes, "max-body-bytes", 0, "the largest body that it takes; 0: 65536")
	f.BoolVar(&opts.Halt, "halt", false, "a message whose attempts are used up stops its lane, and is no dead letter")
	return cmd
}

func newOutboxEnqueue(s *session) *cobra.Command {
	var (
		m    outbox.Message
		file string
	)
	cmd := &cobra.Command{
		Use:   "enqueue QUEUE [BODY]",
		Short: "Put a message at the end of a lane",
		Long: `Put a message at the end of a lane, which its key picks. The body is the second argument, or a file, or, where either is "-", what comes
on stdin: bytes as they are.`,
		Example: `  nexus-node outbox enqueue -n shop payments '{"amount": 12}' --key customer-7 --type application/json
  nexus-node outbox enqueue -n shop scans -f page.tiff --type image/tiff`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			body, err := s.bytes(cmd, "BODY", args[1:], file)
			if err != nil {
				return err
			}
			if body == nil {
				return usage(cmd, "BODY is missing")
			}
			m.Queue, m.Body = args[0], body
			return s.inNamespace(cmd, func(c *client) error {
				r, err := outbox.Enqueue(c.ctx(), c.pool, c.namespace(), m)
				if err != nil {
					return err
				}
				if s.format == asJSON {
					return s.printJSON(r)
				}
				return s.printFields([]string{"message_id", "lane", "duplicate"}, []string{strconv.FormatInt(r.ID, 10), strconv.Itoa(r.Lane), strconv.FormatBool(r.Duplicate)})
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&file, "file", "f", "", `read the body from this file; "-" is stdin`)
	f.StringVar(&m.Type, "type", "text/plain", "what the body is")
	f.StringVar(&m.Key, "key", "", "picks the lane; messages of one key are in order")
	f.StringVar(&m.DedupeKey, "dedupe-key", "", "while it is remembered a second message with it is not enqueued")
	return cmd
}

// laneOf is the argument LANE.
func laneOf(cmd *cobra.Command, arg string) (int, error) {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 0 {
		return 0, usage(cmd, "LANE is a number from 0 on, not "+quote(arg))
	}
	return n, nil
}

// newLaneSwitch is pause or resume: done says that it was done, was that there was nothing to do.
func newLaneSwitch(
	s *session, verb, short, done, was string,
	do func(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, queue string, lane int, reason string) (bool, error),
) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:     verb + " QUEUE LANE",
		Short:   short,
		Example: "  nexus-node outbox " + verb + " -n shop payments 3 --reason 'ticket 812'",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := laneOf(cmd, args[1])
			if err != nil {
				return err
			}
			return s.inNamespace(cmd, func(c *client) error {
				changed, err := do(c.ctx(), c.pool, c.namespace(), args[0], n, reason)
				if err != nil {
					return err
				}
				return s.printDone(deed{kind: "lane", name: args[0] + " " + args[1], state: either(changed, done, was)})
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the audit log")
	return cmd
}

func newLaneRelease(s *session) *cobra.Command {
	var (
		reason string
		dryRun bool
	)
	cmd := &cobra.Command{
		Use:   "release QUEUE LANE",
		Short: "Take a lane from the node that holds it, before its lease ends",
		Long: `Take a lane from the node that holds it, before its lease ends: for one that is gone, or hangs. The lanes of a node that is lost are free
by themselves, after three heartbeats. What was in hand comes again and has used no attempt, and the node can settle nothing of it any more. But
if its handler runs on, what that does outside of the database may be done twice. A lane that is paused or has halted stays so: that is for
outbox resume.

--dry-run does it in a transaction and rolls that back.`,
		Example: `  nexus-node outbox release -n shop payments 3 --dry-run
  nexus-node outbox release -n shop payments 3 --reason 'host is down, ticket 812'`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := laneOf(cmd, args[1])
			if err != nil {
				return err
			}
			return s.inNamespace(cmd, func(c *client) error {
				var node string
				release := func(q nexus.DBTX) (err error) {
					node, err = outbox.Release(c.ctx(), q, c.namespace(), args[0], n, reason)
					return err
				}
				if err := c.change(dryRun, release); err != nil {
					return err
				}
				return s.printDone(deed{"lane", args[0] + " " + args[1], would(dryRun, either(node != "", "taken from "+node, "left as it is, since nobody holds it")), dryRun})
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the audit log")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "do it, say what happened, and roll back")
	return cmd
}

func newLaneSkip(s *session) *cobra.Command {
	var (
		reason  string
		message int64
		dryRun  bool
	)
	cmd := &cobra.Command{
		Use:   "skip QUEUE LANE --reason WHY",
		Short: "Make a dead letter of the message that a lane stands at, and have the lane go on",
		Long: `Make a dead letter of the message that a lane stands at, and have the lane go on, also if it had halted. It is refused while a processor
holds the lane: pause it, and wait for the end of its lease.

--message says which message is meant, by the number that --dry-run shows. If the lane stands at another one by then, because somebody was
faster, that is refused. Without it the lane has to be paused, or halted, or its message has failed.

--dry-run does it in a transaction and rolls that back.`,
		Example: `  nexus-node outbox skip -n shop payments 3 --reason 'booked by hand' --dry-run
  nexus-node outbox skip -n shop payments 3 --message 5 --reason 'booked by hand'`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := laneOf(cmd, args[1])
			if err != nil {
				return err
			}
			return s.inNamespace(cmd, func(c *client) error {
				var seq int64
				skip := func(q nexus.DBTX) (err error) {
					seq, err = outbox.SkipMessage(c.ctx(), q, c.namespace(), args[0], n, message, reason)
					return err
				}
				if err := c.change(dryRun, skip); err != nil {
					return err
				}
				name := args[0] + " " + args[1]
				if seq > 0 {
					name += fmt.Sprintf(" at message %d", seq)
				}
				return s.printDone(deed{"lane", name, would(dryRun, either(seq > 0, "skipped", "left as it is, since it stands at no message")), dryRun})
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the audit log, and for the dead letter of a message that has not failed")
	cmd.Flags().Int64Var(&message, "message", 0, "the number of the message in the lane")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "do it, say what happened, and roll back")
	return cmd
}

func newOutboxRepartition(s *session) *cobra.Command {
	var (
		lanes  int
		dryRun bool
	)
	cmd := &cobra.Command{
		Use:   "repartition NAME --lanes N",
		Short: "Give a queue or an ordered consumer another number of lanes, while traffic runs",
		Long: `Give a queue or an ordered consumer another number of lanes, while traffic runs. The lanes of before are worked until they are empty, and
only then the new ones, so that messages of a key stay in their order. A lane of before that has halted or is paused keeps the new ones waiting.

--dry-run does it in a transaction and rolls that back.`,
		Example: `  nexus-node outbox repartition -n shop payments --lanes 32 --dry-run
  nexus-node outbox repartition -n shop payments --lanes 32`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if lanes == 0 {
				return usage(cmd, "--lanes is missing: how many there are to be, 1 to 4,096")
			}
			return s.inNamespace(cmd, func(c *client) error {
				var changed bool
				cut := func(q nexus.DBTX) (err error) {
					changed, err = outbox.Repartition(c.ctx(), q, c.namespace(), args[0], lanes)
					return err
				}
				if err := c.change(dryRun, cut); err != nil {
					return err
				}
				return s.printDone(deed{"lanes", args[0], would(dryRun, either(changed, "cut anew", "left as they are")), dryRun})
			})
		},
	}
	cmd.Flags().IntVar(&lanes, "lanes", 0, "how many lanes there are to be, 1 to 4,096")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "do it, say what happened, and roll back")
	return cmd
}

func newOutboxReplay(s *session) *cobra.Command {
	var (
		from, reason string
		dryRun       bool
	)
	cmd := &cobra.Command{
		Use:   "replay QUEUE --from beginning|TIME",
		Short: "Enqueue again what was enqueued from a time on and has ended",
		Long: `Enqueue again what was enqueued to an outbox queue from a time on and has ended, in its order, behind what waits. What has been dropped with its
partition, or was in lanes that were cut anew since, is gone. Events of an ordered consumer are replayed by events replay.

--dry-run does it in a transaction and rolls that back.`,
		Example: `  nexus-node outbox replay -n shop payments --from 2026-11-30T08:00:00Z --dry-run
  nexus-node outbox replay -n shop payments --from beginning --reason 'ticket 812'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if from == "" {
				return usage(cmd, "--from is missing; it takes beginning, or a time with its offset, such as 2026-11-28T09:00:00Z")
			}
			_, at, err := inLog(cmd, "from", from, "beginning")
			if err != nil {
				return err
			}
			return s.inNamespace(cmd, func(c *client) error {
				var n int64
				again := func(q nexus.DBTX) (err error) {
					n, err = outbox.Replay(c.ctx(), q, c.namespace(), args[0], at, reason)
					return err
				}
				if err := c.change(dryRun, again); err != nil {
					return err
				}
				return s.printDone(deed{"messages", strconv.FormatInt(n, 10), would(dryRun, "enqueued again"), dryRun})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "beginning, or a time, RFC 3339")
	f.StringVar(&reason, "reason", "", "why, for the audit log")
	f.BoolVar(&dryRun, "dry-run", false, "do it, say what happened, and roll back")
	return cmd
}

func newOutboxRebase(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "rebase",
		Short: "After a restore from a dump: have lanes go on where they were, on this server",
		Long: `After a restore from a dump: have the lanes of all namespaces go on where they were, on this server. Nothing is lost or repeated by it, and
lanes that are of this server already are left. It takes an administrator.`,
		Example: "  nexus-node outbox rebase",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.connected(cmd, func(c *client) error {
				n, err := outbox.Rebase(c.ctx(), c.pool)
				if err != nil {
					return err
				}
				return s.printDone(deed{kind: "lanes", name: strconv.Itoa(n), state: "rebased"})
			})
		},
	}
}
