package operate

import (
	"context"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Settings are those of the whole database; zero values mean "not given". Options of a namespace that are named alike win.
type Settings struct {
	MaxTriggerDepth     int               // how deep in its chain an event may lie for triggers to fire (8)
	TriggerRetry        nexus.RetryPolicy // retries of triggers that are created from then on (3 attempts, exponential, 1 s to 5 min, 20 %)
	DeadLetterRetention time.Duration     // how long resolved dead letters are kept (30 days)
	AbandonedRetention  time.Duration     // how long executions of requests that nobody waited for are kept (7 days)
}

// AlterSettings changes the settings that are given, fields of TriggerRetry too, and leaves the others as they are. It takes an administrator.
func AlterSettings(ctx context.Context, q nexus.DBTX, s Settings) error {
	const op = "alter_settings"
	o := db.NewOptions(op, "")
	o.Number("max_trigger_depth", int64(s.MaxTriggerDepth))
	o.Retry("trigger_retry", s.TriggerRetry)
	o.Duration("dead_letter_retention", s.DeadLetterRetention)
	o.Duration("abandoned_retention", s.AbandonedRetention)
	options, err := o.Encode()
	if err != nil {
		return err
	}
	return db.Do(ctx, q, op, "core.alter_settings($1::text::jsonb)", options)
}
