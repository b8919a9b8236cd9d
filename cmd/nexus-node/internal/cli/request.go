package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/queue"
)

func newRequest(s *session) *cobra.Command {
	var (
		file, producer string
		timeout        time.Duration
	)
	cmd := &cobra.Command{
		Use:   "request TARGET [PAYLOAD]",
		Short: "Ask a handler, and print its reply",
		Long: `Ask a handler of the namespace, and print what it returns, as JSON. TARGET is the name that a node has it under (node.OnRequest); sql:,
webhook: or workflow: stands before that of another kind. The payload is given as that of emit.

It exits with 0 after a reply, with 4 where no live node has the handler, which may be otherwise soon, and with 1 after any other failure.`,
		Example: `  nexus-node request -n shop price '{"items": ["tea", "cup"]}'
  nexus-node request -n shop price --timeout 5s --file basket.json | jq .cents`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			payload, err := s.payload(cmd, args[1:], file)
			if err != nil {
				return err
			}
			if timeout < time.Millisecond || timeout > 5*time.Minute {
				return usage(cmd, fmt.Sprintf("--timeout is %s; it takes 1ms to 5m", timeout))
			}
			return s.inNamespace(cmd, func(c *client) error {
				e := queue.Emitter{Namespace: c.namespace(), Producer: producer}
				ctx, cancel := context.WithTimeout(c.ctx(), timeout)
				defer cancel()
				reply, err := queue.Request[json.RawMessage](ctx, c.pool, e, nexus.EventType[any](args[0]), payload)
				if ctx.Err() != nil && c.ctx().Err() == nil {
					return &queue.ReplyError{Status: 504, Message: fmt.Sprintf("no reply within %s", timeout)}
				}
				if err != nil {
					return err
				}
				return s.printJSON(reply)
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&file, "file", "f", "", `read the payload from this file; "-" is stdin`)
	f.StringVar(&producer, "producer", "", "recorded as the node that asked")
	f.DurationVar(&timeout, "timeout", 30*time.Second, "how long to wait, up to 5m")
	return cmd
}
