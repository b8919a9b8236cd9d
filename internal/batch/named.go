package batch

import (
	"slices"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/pgmqueue"
)

// named finds the deliveries of batch that err names with [nexus.At], each with its first error. Names of others say nothing
// about this batch and are left out.
func named(err error, batch []*pgmqueue.Delivery) map[*pgmqueue.Delivery]error {
	found := map[*pgmqueue.Delivery]error{}
	invoke.Named(err, func(e *nexus.DeliveryError) {
		if e.Delivery == nil || e.Err == nil {
			return
		}
		m, ok := nexus.Bound(e.Delivery).(*pgmqueue.Delivery)
		if !ok || !slices.Contains(batch, m) {
			return
		}
		if _, again := found[m]; !again {
			found[m] = e.Err
		}
	})
	return found
}
