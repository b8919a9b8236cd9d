package workflow

import (
	"context"

	"github.com/nexuspg/nexus/internal/svc"
)

// Declare implements the node's Service: it registers what runs are made of.
func (w *Workflow[In, Out]) Declare(ctx context.Context, h *svc.Host) error {
	return w.flow.declare(ctx, h)
}

// Runner implements the node's Service.
func (w *Workflow[In, Out]) Runner(h *svc.Host) svc.Runner { return newRunner(w.flow, h) }

func (f *flow) declare(ctx context.Context, h *svc.Host) error {
	steps, err := f.compiled()
	if err != nil {
		return err
	}
	f.closed.Store(true)
	_, err = (&runner{flow: f, h: h}).register(ctx, steps)
	return err
}

// Sole implements [svc.Sole]: of two workflows of one name new runs would take the one that was registered last.
func (w *Workflow[In, Out]) Sole() string { return "workflow " + w.flow.name }
