package workflow

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/db"
)

// unreadMost is how many runs are read one by one before the first of them goes on: their leases are not renewed meanwhile.
const unreadMost = 10

// claimUnread leases what is due where a claim with journals cannot be made, and has each journal by itself: only the run that is the reason stays
// behind. why is what the claim ended with. A run that cannot be read keeps its lease, and at the end of that counts as one more death.
func (r *runner) claimUnread(limit int, why error) (hands []*hand, err error) {
	r.h.Logger.Error("runs cannot be claimed together, so each is read by itself", "node", r.h.NodeID, "namespace", string(r.h.Namespace), "workflow", r.flow.name, "error", why)
	ctx, cancel := context.WithTimeout(context.Background(), exchange)
	defer cancel()
	c := &claiming{r: r, sent: time.Now()}
	rows, err := r.h.Own.Query(ctx, claimed+"claim_unread_runs($1, $2, $3, $4, $5)", string(r.h.Namespace), []int64{r.def}, r.h.NodeID, min(limit, unreadMost), r.lease)
	if err == nil {
		err = c.read(rows)
	}
	if err != nil {
		return nil, db.Error(ctx, "claim_unread_runs", err)
	}
	r.last.Store(time.Now().UnixNano())
	for _, h := range c.hands {
		if err := h.readRun(); err != nil {
			h.report("a run cannot be read, and is parked when its lease has ended ten times more", "error", err)
			continue
		}
		hands = append(hands, h)
	}
	return hands, nil
}

// errGone is that a lease is lost.
var errGone = errors.New("the lease of the run was lost")

// readRun reads the input and the journal of a run, row by row.
func (h *hand) readRun() error {
	ctx, cancel := context.WithTimeout(context.Background(), exchange)
	defer cancel()
	rows, err := h.r.h.Own.Query(ctx, "select kind, key, value from core_node.read_run($1, $2, $3)", h.run, h.path, h.token)
	if err != nil {
		return db.Error(ctx, "read_run", err)
	}
	held, kind, key, value := false, "", "", (*string)(nil)
	_, err = pgx.ForEachRow(rows, []any{&kind, &key, &value}, func() error {
		held = true
		if value == nil {
			return nil
		}
		switch text := []byte(*value); kind {
		case "i":
			h.facts.input = text
		case "c":
			h.journal.put(key, text)
		case "p":
			h.journal.pending[key] = text
		case "f":
			h.journal.failed[key] = text
		}
		return nil
	})
	if err == nil && !held {
		return errGone
	}
	return db.Error(ctx, "read_run", err)
}
