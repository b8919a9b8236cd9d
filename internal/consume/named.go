package consume

import (
	"slices"

	"github.com/nexuspg/nexus"
)

// named finds the deliveries of batch that err names with [nexus.At], each with its first error. Names of others say nothing
// about this batch and are left out.
func named(err error, batch []*delivery) map[*delivery]error {
	found := map[*delivery]error{}
	namedIn(err, func(e *nexus.DeliveryError) {
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

// namedIn calls f for each named error in the tree of err, but not for those inside of one. Unwrap belongs to the handlers, so
// it may panic; what was found before counts.
func namedIn(err error, f func(*nexus.DeliveryError)) {
	defer func() { _ = recover() }()
	switch e := err.(type) { //nolint:errorlint // this is the walk through the tree that errors.As would do, to find all
	case *nexus.DeliveryError:
		if e != nil {
			f(e)
		}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			namedIn(one, f)
		}
	case interface{ Unwrap() error }:
		namedIn(e.Unwrap(), f)
	}
}
