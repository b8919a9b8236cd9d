package telemetry

import (
	"sync"
	"sync/atomic"

	"github.com/nexuspg/nexus"
)

// An Emitter is a value without a registry, so what it emits is counted for the process, by namespace.
var emitted struct {
	sync.Map // nexus.Namespace → *atomic.Int64
	names    atomic.Int64
}

// maxNames bounds the namespaces that are told apart; a program that makes up names must not fill the memory.
const maxNames = 1000

// Emitted counts n events. With none it only makes the namespace known.
func Emitted(ns nexus.Namespace, n int) {
	count, ok := emitted.Load(ns)
	if !ok {
		if emitted.names.Load() >= maxNames {
			ns = OtherType
		}
		var there bool
		if count, there = emitted.LoadOrStore(ns, new(atomic.Int64)); !there {
			emitted.names.Add(1)
		}
	}
	count.(*atomic.Int64).Add(int64(n))
}

// EachEmitted calls f with the count of each namespace.
func EachEmitted(f func(ns nexus.Namespace, n int64)) {
	emitted.Range(func(ns, count any) bool {
		f(ns.(nexus.Namespace), count.(*atomic.Int64).Load())
		return true
	})
}
