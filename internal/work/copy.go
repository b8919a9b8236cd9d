package work

import (
	"bytes"
	"maps"
	"slices"

	"github.com/nexuspg/nexus"
)

// Copy is d for a handler to do with as it likes, bound to its item: the node reads nothing back.
func Copy(d nexus.Delivery, item Item) *nexus.Delivery {
	d.Payload = bytes.Clone(d.Payload)
	d.Tags = slices.Clone(d.Tags)
	d.Headers = maps.Clone(d.Headers)
	nexus.Bind(&d, item)
	return &d
}

// SettledByNode is what an acknowledgement gets of a delivery that is not the handler's to acknowledge.
func SettledByNode() error {
	return &nexus.Error{
		Op: "ack", Code: nexus.CodeArgumentValue, Field: "d", Message: "this delivery is settled by the transaction that its handler runs in",
		Hint: "return nil: writes and acknowledgement commit together",
	}
}
