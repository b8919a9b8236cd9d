package trigger

import (
	"context"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// MatchBack has a trigger deliver what is in the log since from ("beginning", or a time of the past with an offset) and matches, and what it had not delivered:
// nothing comes twice. Nodes and ticks do it; core.trigger_status shows how far. rate is such as "100/min", "" no limit. begun is false where an earlier one covers all of it.
// One that is disabled or was replaced is [nexus.ErrInvalid].
func MatchBack(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name, from, rate string) (begun bool, err error) {
	o := db.NewOptions("match_back", "")
	o.Text("rate", rate)
	options, err := o.Encode()
	if err != nil {
		return false, err
	}
	err = db.Call(ctx, q, "match_back", "select core.match_back($1::text, $2::text, $3::text, $4::text::jsonb)", []any{string(ns), name, from, options}, &begun)
	return begun, err
}

// matchBack is the option of core.create_trigger; nil: it is not given.
func matchBack(from, rate string) map[string]string {
	back := map[string]string{}
	if from != "" {
		back["from"] = from
	}
	if rate != "" {
		back["rate"] = rate
	}
	if len(back) == 0 {
		return nil
	}
	return back
}
