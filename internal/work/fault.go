package work

import "context"

type faultKey struct{}

// WithFault has steps of workflows fail in place of being run, where fault says with what: for tests.
func WithFault(ctx context.Context, fault func(workflow, key string) error) context.Context {
	return context.WithValue(ctx, faultKey{}, fault)
}

// Fault is the error with which a step is to fail; nil: it is not.
func Fault(ctx context.Context, workflow, key string) error {
	if fault, ok := ctx.Value(faultKey{}).(func(workflow, key string) error); ok {
		return fault(workflow, key)
	}
	return nil
}
