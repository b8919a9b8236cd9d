package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/queue"
)

func newNamespace(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "namespace",
		Aliases: []string{"ns"},
		Short:   "Create, list and drop namespaces",
		Example: "  nexus-node namespace create shop",
	}, newNamespaceCreate(s), newNamespaceList(s), newNamespaceDrop(s))
}

func newNamespaceCreate(s *session) *cobra.Command {
	var (
		opts     queue.NamespaceOptions
		metadata string
		consumer onOff
		restrict bool
	)
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a namespace with its queues; done again with the same options it changes nothing",
		Example: `  nexus-node namespace create shop
  nexus-node namespace create shop --max-attempts 5 --retry-base 2s --dedupe-for 72h --metadata '{"team": "orders"}'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Metadata = jsonFlag(metadata)
			opts.DefaultConsumer = queue.Switch(consumer)
			if restrict {
				opts.Restricted = queue.On
			}
			_, pool, err := s.connect(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			if err := queue.CreateNamespace(cmd.Context(), pool, nexus.Namespace(args[0]), &opts); err != nil {
				return err
			}
			return s.printDone("namespace", args[0], "exists")
		},
	}
	f := cmd.Flags()
	f.StringVar(&metadata, "metadata", "", "a JSON object of your own")
	f.IntVar(&opts.Retry.MaxAttempts, "max-attempts", 0, "attempts before a delivery is given up; -1: never (default 10)")
	f.StringVar((*string)(&opts.Retry.Shape), "retry-shape", "", "exponential, linear or constant (default exponential)")
	f.DurationVar(&opts.Retry.Base, "retry-base", 0, "pause after the first failure (default 1s)")
	f.DurationVar(&opts.Retry.Max, "retry-max", 0, "longest pause (default 5m)")
	f.Float64Var(&opts.Retry.Jitter, "retry-jitter", 0, "share by which pauses are spread, 0 to 1; negative: none (default 0.2)")
	f.DurationVar(&opts.UnhandledAfter, "unhandled-after", 0, "how long a type that no node handles may wait (default 1h)")
	f.DurationVar(&opts.DedupeFor, "dedupe-for", 0, "how long dedupe keys are remembered (default 168h)")
	f.Int64Var(&opts.MaxPayloadBytes, "max-payload-bytes", 0, "largest payload, in bytes (default 8 MB)")
	f.Var(&consumer, "default-consumer", "off: only named consumers get events (default on)")
	f.BoolVar(&restrict, "restricted", false, "only roles that the namespace is granted to may use it")
	return cmd
}

// onOff is a flag that takes on or off.
type onOff string

func (o *onOff) String() string { return string(*o) }
func (o *onOff) Type() string   { return "on|off" }
func (o *onOff) Set(v string) error {
	if v != "on" && v != "off" {
		return errors.New("it takes on or off")
	}
	*o = onOff(v)
	return nil
}

func newNamespaceList(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the namespaces that you may see",
		Example: "  nexus-node namespace list -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, pool, err := s.connect(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			records, err := selectRecords(cmd.Context(), pool, "list namespaces",
				`select namespace, created_at, metadata from core.namespaces order by namespace`)
			if err != nil {
				return err
			}
			return s.printRecords([]string{"namespace", "created_at", "metadata"}, records)
		},
	}
}

func newNamespaceDrop(s *session) *cobra.Command {
	var (
		confirm       string
		force, dryRun bool
	)
	cmd := &cobra.Command{
		Use:     "drop NAME --confirm NAME",
		Aliases: []string{"rm"},
		Short:   "Drop a namespace with its queues",
		Long: `Drop a namespace with its queues. The name is asked for twice, so that a line from the shell's history does not
drop the wrong one. While events are undelivered it is refused, unless --force says to lose them.

--dry-run drops it in a transaction and rolls that back: it is refused for the same reasons as the real thing.`,
		Example: `  nexus-node namespace drop shop --confirm shop --dry-run
  nexus-node namespace drop shop --confirm shop`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, pool, err := s.connect(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			drop := func(q nexus.DBTX) error {
				return queue.DropNamespace(cmd.Context(), q, nexus.Namespace(args[0]), nexus.Namespace(confirm), force)
			}
			if !dryRun {
				if err := drop(pool); err != nil {
					return err
				}
				return s.printDone("namespace", args[0], "dropped")
			}
			if err := rolledBack(cmd.Context(), pool, drop); err != nil {
				return err
			}
			return s.printDone("namespace", args[0], "would be dropped")
		},
	}
	f := cmd.Flags()
	f.StringVar(&confirm, "confirm", "", "the namespace's name once more")
	f.BoolVar(&force, "force", false, "drop it although events are undelivered, and lose them")
	f.BoolVar(&dryRun, "dry-run", false, "do it, say what happened, and roll back")
	return cmd
}
