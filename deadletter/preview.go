package deadletter

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Group is what a filter picks of one consumer, event type and reason.
type Group struct {
	Namespace     nexus.Namespace `json:"namespace"`
	Consumer      string          `json:"consumer"`
	Source        string          `json:"source_kind"`
	Type          string          `json:"event_type"`
	Reason        string          `json:"reason"`
	Count         int             `json:"count"`
	Oldest        time.Time       `json:"oldest"`
	Newest        time.Time       `json:"newest"`
	NotReplayable string          `json:"not_replayable"` // why a replay would skip them; empty: it would not
	First         []Row           `json:"first_rows"`
}

// Row is one dead letter of a Group.
type Row struct {
	ID        int64     `json:"dead_letter_id"`
	EventID   int64     `json:"event_id"` // 0: it was no event
	Attempts  int       `json:"attempts"`
	FailedAt  time.Time `json:"failed_at"`
	LastError string    `json:"last_error"` // at most 200 characters
}

// Preview says what a filter picks, by where it was and why it is dead, with the first rows of each. It takes no locks and changes
// nothing. A dry run of [Replay] says more surely what would be skipped, since it is the replay.
func Preview(ctx context.Context, q nexus.DBTX, f Filter, rows int) ([]Group, error) {
	const op = "preview_dead_letters"
	filter, err := f.encode(op)
	if err != nil {
		return nil, err
	}
	var text string
	err = db.Call(ctx, q, op, "select coalesce(pg_catalog.json_agg(p), '[]')::text from core.preview_dead_letters($1::text::jsonb, $2::int) p",
		[]any{filter, rows}, &text)
	if err != nil {
		return nil, err
	}
	var groups []Group
	return groups, json.Unmarshal([]byte(text), &groups)
}
