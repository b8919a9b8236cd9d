package cli

import (
	"cmp"
	"time"

	"github.com/spf13/cobra"
)

func newAudit(s *session) *cobra.Command {
	var (
		p             page
		action, since string
	)
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "List what people did to dead letters, queues and nodes, the latest first",
		Long: `List what people did to dead letters, queues and nodes, the latest first: who, with which tool, to what, and the note they gave. It is
written by the functions that do it, whichever tool calls them, and kept for 400 days.`,
		Example: `  nexus-node audit -n shop
  nexus-node audit --action discard_dead_letters --since 720h -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			begin, err := sinceFlag(cmd, since, time.Now())
			if err := cmp.Or(err, p.check(cmd)); err != nil {
				return err
			}
			cfg, pool, err := s.connectToList(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			l := listing{
				what: "list the audit log",
				sql: `select audit_id, happened_at, principal, application, action, namespace, target, reason, details
				   from core.audit_log where true`,
				names: []string{"audit_id", "happened_at", "principal", "application", "action", "namespace", "target", "reason", "details"},
				keys:  []key{{"audit_id", "bigint"}},
				desc:  true,
			}
			if cfg.Namespace != "" {
				l.where("namespace = $%d::text", cfg.Namespace)
			}
			if action != "" {
				l.where("action = $%d::text", action)
			}
			if !begin.IsZero() {
				l.where("happened_at >= $%d::timestamptz", begin)
			}
			return s.printPage(cmd, pool, l, p)
		},
	}
	p.add(cmd)
	f := cmd.Flags()
	f.StringVar(&action, "action", "", "only this: the name of the function, such as replay_dead_letters")
	f.StringVar(&since, "since", "", "only what was done at or after this time, RFC 3339, or this long ago: 24h")
	return cmd
}
