package consume

import (
	"slices"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/invoke"
)

// named finds the deliveries of batch that err names with [nexus.At], each with its first error. Names of others say nothing
// about this batch and are left out.
func named(err error, batch []*delivery) map[*delivery]error {
	found := map[*delivery]error{}
	invoke.Named(err, func(e *nexus.DeliveryError) {
		m := boundTo(e.Delivery)
		if m == nil || e.Err == nil || !slices.Contains(batch, m) {
			return
		}
		if _, again := found[m]; !again {
			found[m] = e.Err
		}
	})
	return found
}
