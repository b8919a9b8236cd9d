package demo

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
)

// auditor is the name of the node that comes late and wants all.
const auditor = "auditor"

const writeAudit = `insert into demo.audited (event_uid, node, attempt) values ($1, $2, $3)`

func audit(ctx context.Context, tx pgx.Tx, d *nexus.Delivery, name string) error {
	_, err := tx.Exec(ctx, writeAudit, d.UID, name, d.Attempt)
	return err
}

// subscribe declares the consumer of the auditor, which gets every webhook that there ever was.
func subscribe(n *node.Node, h handler) {
	c := n.Subscribe("audit", "github.*")
	c.FromBeginning = true
	c.On("github.*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return h(ctx, tx, d, auditor) }).Express = true
}

// addAuditor starts it in the middle of things: some webhooks are handled by then, some wait, some are yet to come.
func (d *demo) addAuditor(ctx context.Context) (*process, error) {
	p, err := d.spawn(auditor)
	if err != nil {
		return nil, err
	}
	if err := d.wait(ctx, "the consumer audit to be there", `
		select exists (select from core.consumer_status c where c.namespace = $1 and c.consumer = 'audit')`, namespace); err != nil {
		return nil, err
	}
	var before int64
	err = d.owner.QueryRow(ctx, `
		select count(*) from core.event_log l join core.consumer_status c on c.namespace = l.namespace and c.consumer = 'audit'
		 where l.namespace = $1 and l.event_type ^@ 'github.' and l.emitted_at < c.created_at`, namespace).Scan(&before)
	if err != nil {
		return nil, err
	}
	d.tell("a second consumer, audit, begins at the beginning: %d webhooks were emitted before it", before)
	return p, nil
}
