package consume

import (
	"sync"

	"github.com/nexuspg/nexus"
)

// acked holds the deliveries in hand for which their handler settled in a transaction of its own. The public API gives the
// handler nothing but the delivery, so the delivery's address is the key.
var acked sync.Map

// NoteAck remembers that the handler of d acknowledged it in its own transaction. Whether that transaction commits is not
// known here: if the message turns out to be gone that is what was meant, and if it is still there the handler's return
// value counts as usual. The note lives until the attempt is settled.
func NoteAck(d *nexus.Delivery) { acked.Store(d, struct{}{}) }

func ackNoted(d *nexus.Delivery) bool {
	_, ok := acked.Load(d)
	return ok
}

func forgetAck(d *nexus.Delivery) { acked.Delete(d) }
