package trigger

import "encoding/json"

// KV matches mutations of a collection: of the key-value store, or of the rows of a watched table ([WatchTable]).
//
// Its handler gets a [Mutation].
type KV struct {
	Collection string          `json:"collection"`         // a collection, "prefix.*", "prefix:*" or "*"
	Ops        []string        `json:"ops,omitempty"`      // insert, update, delete; nil: any. A truncate is one of delete
	Columns    []string        `json:"columns,omitempty"`  // an update must change one of them; nil: any
	Contains   json.RawMessage `json:"contains,omitempty"` // an object that the mutation must contain, as jsonb's @> has it; nil: any
}

// Mutation is the payload of a change.
type Mutation struct {
	Collection string          `json:"collection"`
	Op         string          `json:"op"`      // insert, update, delete or truncate
	Key        json.RawMessage `json:"key"`     // the name of a key, or an object of the key columns of a row; null: it has none
	Old        json.RawMessage `json:"old"`     // null of an insert
	New        json.RawMessage `json:"new"`     // null of a delete
	Changed    []string        `json:"changed"` // of an update: the columns that changed, or the members of a value that is an object
	Omitted    []string        `json:"omitted"` // key, old, new: what no payload takes, by its size or its numbers, and is null in its place
	Expired    bool            `json:"expired"` // a key that is gone by its ttl
}
