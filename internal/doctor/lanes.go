package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// A message that fails for so long keeps all behind it waiting for too long.
const laneBlocked = 5 * time.Minute

// lookLanes looks for lanes that stand still.
func lookLanes(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type lane struct {
		Namespace, Queue, Lane string
		Foreign                bool
		Why, Error, At         string
	}
	bad, err := records[lane](ctx, pool, `select s.namespace, s.queue, s.lane::text, coalesce(s.why like 'restored%', false) as foreign, s.why,
			coalesce(pg_catalog.left(s.last_error, 100), '') as error,
			pg_catalog.format('%L, %L, %s', s.namespace, s.queue, s.lane) as at
		  from core.lane_status s
		 where s.why is not null and (s.state <> 'active' or s.why like 'restored%' or s.blocked_since < core.now() - $1::interval)
		 order by 4 desc, s.blocked_since, 1, 2, s.lane limit 100`, laneBlocked)
	if err != nil {
		return finding{}, err
	}
	if len(bad) == 0 {
		return ok("all go on"), nil
	}
	if bad[0].Foreign {
		return broken(mend{statement("select core.lanes_rebase(); -- as a member of nexus_admin, before processors run")},
			"%s/%s was restored from another server, and no lane of it is handed out", bad[0].Namespace, bad[0].Queue), nil
	}
	var found []string
	for _, l := range bad {
		text := fmt.Sprintf("%s/%s lane %s: %s", l.Namespace, l.Queue, l.Lane, l.Why)
		if l.Error != "" {
			text += ": " + l.Error
		}
		found = append(found, text)
	}
	return warn(mend{
		advice("mend the handler; then have the lane go on, or make a dead letter of the message that it stands at with core.lane_skip"),
		statement("select core.lane_resume(%s); -- as a member of nexus_operator", bad[0].At),
	}, "%s", some(found)), nil
}
