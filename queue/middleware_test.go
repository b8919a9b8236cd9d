package queue_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/queue"
)

type emitFunc = func(ctx context.Context, batch []queue.Emission, next func(context.Context) error) error

func with(emits ...emitFunc) queue.Emitter {
	e := bus
	for _, emit := range emits {
		e.Middleware = append(e.Middleware, queue.Middleware{Emit: emit})
	}
	return e
}

func TestMiddlewareWrapsEmits(t *testing.T) {
	db := newDB(t)
	var order []string
	mark := func(name string) emitFunc {
		return func(ctx context.Context, batch []queue.Emission, next func(context.Context) error) error {
			order = append(order, name)
			for i := range batch {
				if batch[i].Headers == nil {
					batch[i].Headers = map[string]string{}
				}
				batch[i].Headers["by"] += name
			}
			ctx = nexus.WithDelivery(ctx, &nexus.Delivery{Event: nexus.Event{CorrelationID: "from " + name}})
			err := next(ctx)
			order = append(order, "/"+name)
			return err
		}
	}
	e := with(mark("a"), nil, mark("b"))

	headers := map[string]string{"own": "1"}
	opts := &queue.EmitOptions{Headers: headers}
	one, err := e.Emit(t.Context(), db.Pool, "x", nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	batch := []queue.Emission{{Type: "x"}, {Type: "x", EmitOptions: *opts}}
	many, err := e.EmitBatch(t.Context(), db.Pool, batch)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b", "/b", "/a", "a", "b", "/b", "/a"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	for id, want := range map[int64]map[string]string{
		one.EventID: {"own": "1", "by": "ab"}, many[0].EventID: {"by": "ab"}, many[1].EventID: {"own": "1", "by": "ab"},
	} {
		got := log(t, db, id)
		if diff := cmp.Diff(want, got.Headers); diff != "" {
			t.Errorf("headers (-want +got):\n%s", diff)
		}
		if got.Correlation != "from b" {
			t.Errorf("correlation %q: the innermost context does not count", got.Correlation)
		}
	}
	if len(headers) != 1 || batch[0].Headers != nil || len(batch[1].Headers) != 1 {
		t.Errorf("the caller's own values changed: %v, %v", headers, batch)
	}
}

func TestMiddlewareMayRefuse(t *testing.T) {
	refused := errors.New("refused")
	_, err := with(func(context.Context, []queue.Emission, func(context.Context) error) error { return refused }).
		Emit(t.Context(), unasked{t}, "x", nil, nil)
	if !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
}

// An event that was not written has no receipt, whatever the middleware says.
func TestMiddlewareCannotPretend(t *testing.T) {
	db := newDB(t)
	for name, emit := range map[string]emitFunc{
		"no call": func(context.Context, []queue.Emission, func(context.Context) error) error { return nil },
		"an error swallowed": func(ctx context.Context, batch []queue.Emission, next func(context.Context) error) error {
			batch[0].Type = "no type"
			if err := next(ctx); err == nil {
				t.Error("emitted")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			if r, err := with(emit).Emit(t.Context(), db.Pool, "x", nil, nil); err == nil {
				t.Errorf("single: %+v", r)
			}
			if r, err := with(emit).EmitBatch(t.Context(), db.Pool, []queue.Emission{{Type: "x"}}); err == nil {
				t.Errorf("batch: %+v", r)
			}
		})
	}
}
