package batch

import (
	"slices"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/invoke"
)

// named finds the deliveries of batch that err names with [nexus.At], each with its first error. Names of others say nothing
// about this batch and are left out.
func named(err error, batch []*entry) map[*entry]error {
	found := map[*entry]error{}
	invoke.Named(err, func(e *nexus.DeliveryError) {
		if e.Delivery == nil || e.Err == nil {
			return
		}
		it := nexus.Bound(e.Delivery)
		i := slices.IndexFunc(batch, func(m *entry) bool { return it == any(m.Item) })
		if i < 0 {
			return
		}
		m := batch[i]
		if _, again := found[m]; !again {
			found[m] = e.Err
		}
	})
	return found
}
