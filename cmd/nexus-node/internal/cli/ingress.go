package cli

import (
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/ingress"
	"github.com/nexuspg/nexus/internal/readmodel"
)

func newIngress(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "ingress",
		Short:   "Make, list and revoke the tokens by which events are taken over HTTP",
		Example: "  nexus-node ingress list -n shop",
	}, newIngressCreate(s), newIngressList(s), newIngressRevoke(s))
}

func newIngressCreate(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "create NAME",
		Short:   "Make a token for the namespace and print it, this once",
		Example: "  nexus-node ingress create -n shop web",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				token, err := ingress.CreateToken(c.ctx(), c.pool, c.namespace(), args[0])
				if err != nil {
					return err
				}
				if s.format == asJSON {
					return s.printJSON(map[string]string{"name": args[0], "state": "created", "token": token})
				}
				return s.printFields([]string{"name", "state", "token"}, []string{args[0], "created", token})
			})
		},
	}
}

func newIngressList(s *session) *cobra.Command {
	return s.newList(
		"List the tokens of the namespace, or of all, by name", `  nexus-node ingress list -n shop
  nexus-node ingress list -n "" -o json`,
		readmodel.IngressTokens)
}

func newIngressRevoke(s *session) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:     "revoke NAME",
		Short:   "Take a token back: nothing is taken by it any more",
		Example: "  nexus-node ingress revoke -n shop web",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				var revoked bool
				err := c.change(dryRun, func(q nexus.DBTX) (err error) {
					revoked, err = ingress.RevokeToken(c.ctx(), q, c.namespace(), args[0])
					return err
				})
				if err != nil {
					return err
				}
				return s.printDone(deed{"token", args[0], either(revoked, would(dryRun, "revoked"), "is not there"), dryRun})
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be done")
	return cmd
}
