package work

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
)

// Step is a call of code of a workflow.
type Step struct {
	Namespace     nexus.Namespace
	Workflow      string
	Run           uuid.UUID
	Key           string // in the journal; of a compensation that of what it undoes
	Undo          bool
	Attempt       int
	Traceparent   string // of the span that started the run; "": nobody traced that
	CorrelationID string
}

// StepObserver is told of each step before its code runs, which gets the context that it returns; end is called once. late says that the code was given up
// before it came back.
type StepObserver func(ctx context.Context, s Step) (_ context.Context, end func(r Result, err error, late bool, took time.Duration))
