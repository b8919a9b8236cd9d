package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/svc"
)

// Processor works the lanes of one queue. Give it to a node by Add; a node takes one for each queue. Its fields may be set until the node runs.
type Processor struct {
	Batch   int           // the most messages at once; 0: by the queue's profile
	Lease   time.Duration // how long a lane waits for a process that died; 0: the node's, 30 s by default; 1 s to 12 h
	Timeout time.Duration // of one call of the handler; 0: the node's; negative: none

	queue string
	one   func(ctx context.Context, tx pgx.Tx, m *Item) error
	batch func(ctx context.Context, tx pgx.Tx, batch []*Item) error
	alone func(ctx context.Context, m *Item) error
}

// Handle calls fn for each message: what it writes in tx commits together with the lane's going on, or neither does.
func Handle(queue string, fn func(ctx context.Context, tx pgx.Tx, m *Item) error) *Processor {
	return &Processor{queue: queue, one: fn}
}

// HandleBatch calls fn for several messages of one lane at once. After an error they come again in halves, until it is known whose it is.
func HandleBatch(queue string, fn func(ctx context.Context, tx pgx.Tx, batch []*Item) error) *Processor {
	return &Processor{queue: queue, batch: fn}
}

// HandleLeased calls fn for each message without a transaction: for work that is done elsewhere. A message whose process died after that and
// before it was settled comes again.
func HandleLeased(queue string, fn func(ctx context.Context, m *Item) error) *Processor {
	return &Processor{queue: queue, alone: fn}
}

// pace is how a processor of a queue goes about it.
type pace struct {
	batch   int
	gap     time.Duration // from one look into a lane that had little to the next, so that more comes together; 0: none
	silent  time.Duration // the longest pause while nobody is to call, since many would
	longest time.Duration // of a pause; 0: the node's
}

var paces = map[Profile]pace{
	Default:        {batch: 50, gap: 5 * time.Millisecond, silent: 20 * time.Millisecond},
	LowLatency:     {batch: 10, silent: firstPause, longest: 200 * time.Millisecond},
	HighThroughput: {batch: 500, gap: 50 * time.Millisecond, silent: 50 * time.Millisecond},
	Relaxed:        {batch: 100, gap: 500 * time.Millisecond, silent: 500 * time.Millisecond, longest: 30 * time.Second},
}

// Declare implements the node's Service: it sees that the queue is there.
func (p *Processor) Declare(ctx context.Context, h *svc.Host) error {
	if p.queue == "" || p.one == nil && p.batch == nil && p.alone == nil {
		return refusal("Add", "a processor needs a queue and a handler", "give both to outbox.Handle, HandleBatch or HandleLeased")
	}
	if p.Batch < 0 || p.Batch > 10_000 {
		return refusal("Processor.Batch", fmt.Sprintf("Batch of the processor of %s is %d", p.queue, p.Batch), "give 1 to 10,000, or 0 for what the queue's profile says")
	}
	if p.Lease != 0 && (p.Lease < time.Second || p.Lease > 12*time.Hour) {
		return refusal("Processor.Lease", fmt.Sprintf("Lease of the processor of %s is %s", p.queue, p.Lease), "give 1 s to 12 h, or 0 for the node's")
	}
	_, _, err := p.settings(ctx, h)
	return err
}

func refusal(field, message, hint string) error {
	return &nexus.Error{Op: "outbox", Code: nexus.CodeArgumentValue, Field: field, Message: message, Hint: hint}
}

// Sole implements [svc.Sole]: of two processors of a queue, each would have some of its messages.
func (p *Processor) Sole() string { return "outbox queue " + p.queue }

// settings are those of the queue as they are now.
func (p *Processor) settings(ctx context.Context, h *svc.Host) (of pace, key string, err error) {
	var profile string
	err = db.Call(ctx, h.Own, "outbox_pace", "select profile, wake_key from core_node.outbox_pace($1::text, $2::text)",
		[]any{string(h.Namespace), p.queue}, &profile, &key)
	of = paces[Profile(profile)]
	if p.Batch > 0 {
		of.batch = p.Batch
	}
	if of.longest == 0 {
		of.longest = h.Poll
	}
	return of, key, err
}

// Runner implements the node's Service.
func (p *Processor) Runner(h *svc.Host) svc.Runner { return newRunner(p, h) }

func (p *Processor) lease(h *svc.Host) time.Duration {
	if p.Lease > 0 {
		return p.Lease
	}
	return h.Lease
}

func (p *Processor) timeout(h *svc.Host) time.Duration {
	if p.Timeout != 0 {
		return p.Timeout
	}
	return h.Timeout
}

var _ svc.Sole = (*Processor)(nil)

var _ interface {
	Declare(context.Context, *svc.Host) error
	Runner(*svc.Host) svc.Runner
} = (*Processor)(nil)

// lost reports whether err says that the lane is somebody else's.
func lost(err error) bool { return errors.Is(err, nexus.ErrLeaseLost) }
