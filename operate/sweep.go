package operate

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// SweepRun is how one run of a sweep went.
type SweepRun struct {
	Sweep  string          `json:"sweep"`
	Result json.RawMessage `json:"result"` // what it did, in its own form; nil if it failed or has nothing to say
	Error  string          `json:"error"`  // SQLSTATE and message; "": it went well
	Beside bool            `json:"beside"` // somebody else was at it, so this run is not recorded
}

// RunSweep runs one sweep, a piece of the upkeep, now and whether it is due or not. core.sweep_status lists them; a name that is not
// there is [nexus.CodeNoSweep]. A sweep that fails is no error: it is in Error, and in core.sweep_status. It takes nexus_admin.
func RunSweep(ctx context.Context, q nexus.DBTX, name string) (run SweepRun, err error) {
	const op = "run_sweep"
	var text string
	if err := db.Call(ctx, q, op, "select core.run_sweep($1::text)::text", []any{name}, &text); err != nil {
		return run, err
	}
	if err := json.Unmarshal([]byte(text), &run); err != nil {
		return run, fmt.Errorf("%s: %w", op, err)
	}
	return run, nil
}
