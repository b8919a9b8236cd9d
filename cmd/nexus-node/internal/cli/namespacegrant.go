package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/operate"
)

// duties are what a role can be let do in a restricted namespace.
var duties = []string{"produce", "consume", "operate", "read"}

func newNamespaceGrant(s *session) *cobra.Command {
	return newDuty(s, operate.GrantNamespace, "grant", "granted", "Let a role do one duty in a restricted namespace", `Let a role do one duty in a restricted namespace: produce, consume, operate (which includes read) or read. The role needs the role of
the duty (nexus_producer, …) as well, and the namespace is restricted by nexus-node namespace alter NAME --restricted on.`)
}

func newNamespaceRevoke(s *session) *cobra.Command {
	return newDuty(s, operate.RevokeNamespace, "revoke", "revoked", "Take a grant back", `Take a grant back. Nodes and sessions that are running feel it with their next call. What was not granted is revoked without a
word: the same line may run twice.`)
}

// newDuty is one of the two verbs on core.namespace_grants.
func newDuty(
	s *session, do func(context.Context, nexus.DBTX, nexus.Namespace, string, operate.Duty) error, verb, state, short, long string,
) *cobra.Command {
	return &cobra.Command{
		Use:     verb + " NAME ROLE DUTY",
		Short:   short,
		Long:    long,
		Example: "  nexus-node namespace " + verb + " shop till_login produce",
		Args:    cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(duties, args[2]) {
				return usage(cmd, "DUTY is "+quote(args[2])+"; it takes "+strings.Join(duties, ", "))
			}
			return s.connected(cmd, func(c *client) error {
				if err := do(c.ctx(), c.pool, nexus.Namespace(args[0]), args[1], operate.Duty(args[2])); err != nil {
					return err
				}
				return s.printDone(deed{kind: "namespace", name: args[0], state: state})
			})
		},
	}
}
