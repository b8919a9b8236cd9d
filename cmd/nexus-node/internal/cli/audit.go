package cli

import (
	"cmp"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/readmodel"
)

func newAudit(s *session) *cobra.Command {
	var (
		p             page
		action, since string
	)
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "List what people did, the latest first",
		Long: `List what people did, the latest first: who, with which tool, to what, and the note they gave. It is
written by the functions that do it, whichever tool calls them, and kept for 400 days.`,
		Example: `  nexus-node audit -n shop
  nexus-node audit --action discard_dead_letters --since 720h -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			begin, err := sinceFlag(cmd, since, time.Now())
			if err := cmp.Or(err, p.check(cmd)); err != nil {
				return err
			}
			return s.list(cmd, p, func(namespace string) readmodel.List {
				return readmodel.Audit(readmodel.AuditFilter{Namespace: namespace, Action: action, Since: begin})
			})
		},
	}
	p.add(cmd)
	f := cmd.Flags()
	f.StringVar(&action, "action", "", "only this: the name of the function, such as replay_dead_letters")
	f.StringVar(&since, "since", "", "only what was done at or after this time, RFC 3339, or this long ago: 24h")
	return cmd
}
