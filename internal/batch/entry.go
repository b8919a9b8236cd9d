package batch

import (
	"context"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/lease"
	"github.com/nexuspg/nexus/internal/work"
)

// entry is an item of a batch. The mutex of Batches guards what belongs to the lease, the rest is the batch's.
type entry struct {
	work.Item
	begun bool // its handlers were called in the transaction that runs

	of    *batch
	lease lease.Lease
	held  bool // the lease is being renewed
}

// entries are those of a claim's items.
func entries(items []work.Item) []*entry {
	all := make([]entry, len(items))
	list := make([]*entry, len(items))
	for i, it := range items {
		all[i].Item = it
		list[i] = &all[i]
	}
	return list
}

// bare are the items of entries.
func bare(entries []*entry) []work.Item {
	list := make([]work.Item, len(entries))
	for i, m := range entries {
		list[i] = m.Item
	}
	return list
}

// own are the node's own deliveries of entries.
func own(entries []*entry) []*nexus.Delivery {
	list := make([]*nexus.Delivery, len(entries))
	for i, m := range entries {
		list[i] = m.Delivery()
	}
	return list
}

// handed are copies of entries for one handler.
func handed(entries []*entry) []*nexus.Delivery {
	list := make([]*nexus.Delivery, len(entries))
	for i, m := range entries {
		list[i] = m.Handed(false)
	}
	return list
}

// Lease implements [lease.Held].
func (m *entry) Lease() *lease.Lease {
	if !m.held {
		return nil
	}
	return &m.lease
}

// Lost implements [lease.Held]. Whoever has one of the items has to stop with all that share the transaction.
func (m *entry) Lost(time.Time) {
	if m.of.cancel != nil {
		m.of.cancel(nexus.ErrLeaseLost)
	}
}

// batch is what one claim took. Its goroutine owns it, but for cancel, call and lacks, which Batches' mutex guards.
type batch struct {
	items     []*entry
	leased    bool
	alone     bool            // may have killed a process
	tx        engine.SharedTx // express: holds the locks
	began     time.Time
	claimTook time.Duration
	cancel    context.CancelCauseFunc
	call      *invoke.Call // of its handlers, nil if none are in
	lacks     bool         // handlers that do not come back have its place
	placeless bool         // and there was no other

	settled  int
	left     []*entry      // express: given back by the end of the transaction
	overhead time.Duration // marking and committing
}
