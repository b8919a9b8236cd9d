package telemetry

import (
	"errors"
	"strconv"
	"testing"

	"github.com/nexuspg/nexus"
)

// Whoever does not trace pays nothing.
// holds: traces
func TestNoTraceNoCost(t *testing.T) {
	ctx, headers := t.Context(), map[string]string{"k": "v"}
	if n := testing.AllocsPerRun(100, func() {
		ctx, end := Emitting(ctx, "shop", "order.placed", 1)
		if got := Headers(ctx, headers); len(got) != 1 {
			t.Error(got)
		}
		end(errors.ErrUnsupported)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if Origin(headers).IsValid() {
		t.Error("headers without a trace have an origin")
	}
	if Origin(map[string]string{headerTraceparent: "00-sent by hand"}).IsValid() {
		t.Error("a traceparent that is none has an origin")
	}
}

func TestEmittedIsBounded(t *testing.T) {
	before := emitted.names.Load()
	for i := range 3 * maxNames {
		Emitted(nexus.Namespace(strconv.Itoa(i)), 2)
	}
	names, total := 0, int64(0)
	EachEmitted(func(_ nexus.Namespace, n int64) { names++; total += n })
	if names > maxNames+1+int(before) || total != 6*maxNames {
		t.Errorf("%d namespaces, %d events", names, total)
	}
}
