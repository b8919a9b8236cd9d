package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
	"github.com/nexuspg/nexus/webhook"
	"github.com/nexuspg/nexus/webhook/signature"
)

func newWebhookTest(s *session) *cobra.Command {
	var flags webhookFlags
	cmd := &cobra.Command{
		Use:   "test NAME|URL",
		Short: "Send one signed test event to a webhook, or to a URL that is to be one, and say what came of it",
		Long: `Send one CloudEvent of type ` + webhook.ProbeType + ` from this machine, as nodes send events: with the webhook's secrets and timeout, no redirects, and no private
addresses but those of NEXUS_WEBHOOK_ALLOW. Nothing is stored. The exit code is 1 where the receiver did not take it.

A URL needs no database and no namespace; the secret to sign with is read from --secret-file.`,
		Example: `  nexus-node webhook test -n shop billing
  nexus-node webhook test https://billing.example/in --secret-file billing.secret`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !strings.Contains(args[0], "://") {
				if flags.secretFile != "" {
					return usage(cmd, "a webhook has its secrets; --secret-file is for a URL")
				}
				return s.inNamespace(cmd, func(c *client) error {
					sender, err := sender(c.cfg)
					if err != nil {
						return err
					}
					p, err := sender.Probe(c.ctx(), c.pool, c.namespace(), args[0])
					return s.printProbed(p, err)
				})
			}
			if flags.secretFile == "" {
				return usage(cmd, "nothing says what to sign with: give --secret-file")
			}
			return s.probeURL(cmd, args[0], &flags)
		},
	}
	flags.addSecret(cmd)
	return cmd
}

func (s *session) probeURL(cmd *cobra.Command, url string, flags *webhookFlags) error {
	cfg, err := s.load(cmd)
	if err != nil {
		return err
	}
	sender, err := sender(cfg)
	if err != nil {
		return err
	}
	secret, err := flags.secret(s)
	if err != nil {
		return err
	}
	key, err := signature.ParseKey(secret)
	if err != nil {
		return usage(cmd, err.Error())
	}
	p, err := sender.ProbeURL(cmd.Context(), nexus.Namespace(cfg.Namespace), url, key)
	return s.printProbed(p, err)
}

// sender sends as a node with these settings does.
func sender(cfg *config.Config) (*webhook.Sender, error) {
	allowed, err := cfg.AllowedNetworks()
	return &webhook.Sender{Allow: allowed}, err
}

func (s *session) printProbed(p webhook.Probed, err error) error {
	if err != nil {
		return err
	}
	delivered := p.Wrong == ""
	took := p.Took.Round(time.Millisecond)
	if s.format == asJSON {
		err = s.printJSON(map[string]any{"url": p.URL, "id": p.ID, "status": p.Status, "ms": took.Milliseconds(), "delivered": delivered, "wrong": p.Wrong})
	} else {
		err = s.printFields([]string{"url", "id", "status", "took", "delivered", "wrong"},
			[]string{p.URL, p.ID, either(p.Status == 0, "", strconv.Itoa(p.Status)), took.String(), strconv.FormatBool(delivered), p.Wrong})
	}
	if err == nil && !delivered {
		err = verdict(exitFailed)
	}
	return err
}
