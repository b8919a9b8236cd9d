package doctor

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
)

// lookAbandoned looks for what handlers of requests did for nobody, of the last day.
func lookAbandoned(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type target struct {
		Namespace, Target string
		Late, Left        int
	}
	bad, err := records[target](ctx, pool, `select a.namespace, a.target, count(*) filter (where a.why = 'nobody waits') as late, count(*) filter (where a.why <> 'nobody waits') as left
		  from (select x.namespace, x.target, x.why from core.abandoned_executions x
		         where x.created_at > core.now() - interval '1 day' order by x.created_at desc limit 10000) a
		 group by 1, 2 order by 3 desc, 4 desc limit 100`)
	if err != nil {
		return finding{}, err
	}
	if len(bad) == 0 {
		return ok("none in a day"), nil
	}
	var found []string
	for _, t := range bad {
		found = append(found, fmt.Sprintf("%s/%s ended %d times when nobody waited, and %d replies were not taken", t.Namespace, t.Target, t.Late, t.Left))
	}
	return warn(mend{
		advice("give those who ask more time (the deadline of the context, the option timeout), or the nodes more workers, and see whether callers are killed"),
		statement("select * from core.abandoned_executions order by created_at desc limit 100; -- as a member of nexus_reader: what they did"),
	}, "%s", some(found)), nil
}
