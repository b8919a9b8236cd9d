package cli

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
	"github.com/nexuspg/nexus/internal/readmodel"
)

// client is the session of a command that is connected.
type client struct {
	*session
	cmd  *cobra.Command
	cfg  *config.Config
	pool *pgxpool.Pool
}

func (c *client) ctx() context.Context { return c.cmd.Context() }

// namespace is the one that the command is about; "": none, or all.
func (c *client) namespace() nexus.Namespace { return nexus.Namespace(c.cfg.Namespace) }

// sees refuses a namespace that is not there for the caller; "" stands for all.
func (c *client) sees(namespace string) error {
	if namespace == "" {
		return nil
	}
	visible, err := readmodel.Visible(c.ctx(), c.pool, namespace)
	if err == nil && !visible {
		return &notFound{"there is no namespace " + quote(namespace) + " that you may see", "nexus-node namespace list"}
	}
	return err
}

// read runs a select of package readmodel.
func (c *client) read(what, sql string, args ...any) ([]readmodel.Record, error) {
	return readmodel.Select(c.ctx(), c.pool, what, sql, args...)
}

// show prints the one row of a select, whole.
func (c *client) show(what string, missing error, sql string, args ...any) error {
	records, err := c.read(what, sql, args...)
	if err != nil {
		return err
	}
	if len(records) == 0 {
		return missing
	}
	return c.printRecord(records[0])
}

// change runs a verb, for a dry run in a transaction that is taken back.
func (c *client) change(dry bool, do func(nexus.DBTX) error) error {
	if dry {
		return rolledBack(c.ctx(), c.pool, do)
	}
	return do(c.pool)
}
