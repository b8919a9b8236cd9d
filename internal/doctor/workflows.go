package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// What is due for so long is not taken, though it could be.
const runsLate = 5 * time.Minute

// lookWorkflows looks for runs that do not go on by themselves: half undone, parked, of code that no live node has, or due and not taken.
func lookWorkflows(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type group struct {
		Namespace, Workflow, What, Run string
		Count                          int
	}
	bad, err := records[group](ctx, pool, `
		select r.namespace, r.workflow, 'failed', pg_catalog.min(r.run_id::text), pg_catalog.count(*)::int
		  from (select x.namespace, x.workflow, x.run_id from core.workflow_runs x where x.status = 'compensation_failed' limit 10000) r group by 1, 2
		 union all
		select w.namespace, w.workflow, w.what, pg_catalog.min(w.run_id::text), pg_catalog.count(distinct w.run_id)::int
		  from (select x.namespace, x.workflow, x.run_id,
		               case when x.waits_for = 'operator' then 'parked' when x.waits_for = 'undo' and x.node_id is null then 'undo' else 'late' end as what
		          from core.workflow_waits x
		         where x.waits_for = 'operator' or x.waits_for in ('node', 'undo') and x.due_at < core.now() - $1::interval and x.why is null limit 10000) w
		 group by 1, 2, 3
		 union all
		select d.namespace, d.workflow,
		       case when exists (select from core.workflow_definitions o where o.namespace = d.namespace and o.workflow = d.workflow and o.nodes <> '{}')
		            then 'mismatch' else 'stranded' end, d.version::text, d.runs
		  from core.workflow_definitions d where d.nodes = '{}' and d.runs > 0
		 order by 3, 1, 2, 4 limit 100`, runsLate)
	if err != nil {
		return finding{}, err
	}
	if len(bad) == 0 {
		return ok("all runs go on"), nil
	}
	var found []string
	var lines mend
	for _, b := range bad {
		name, runs := b.Namespace+"/"+b.Workflow, plural(b.Count, "run")
		say := func(what string, m ...string) {
			found = append(found, fmt.Sprintf("%s: %s %s", name, runs, what))
			lines = append(lines, m...)
		}
		switch b.What {
		case "failed":
			say("half undone, since a compensation failed for good", statement("select core.retry_workflow(%s); -- as a member of nexus_operator, once what it needs is mended", literal(b.Run)),
				or+statement("select core.accept_workflow(%s, 'REASON'); -- as a member of nexus_operator", literal(b.Run)))
		case "parked":
			say("parked, since processes died in the step", advice("see what kills them, in the log of the node that core.workflow_waits.why names, with the step before"),
				statement("select core.retry_workflow(%s); -- as a member of nexus_operator", literal(b.Run)))
		case "mismatch":
			say(fmt.Sprintf("of version %s, which no live node has or fits (definition_mismatch)", b.Run), advice("let a node with that code finish them, or cancel them: core.workflow_waits.why"))
		case "stranded":
			say(fmt.Sprintf("of version %s, and no live node has the workflow", b.Run), advice("start a node that has workflow %s of namespace %s", b.Workflow, b.Namespace))
		case "undo":
			say("due to be undone, and nobody does it", advice("compensations in SQL are run by nodes with SQL handlers and by pg_cron's job nexus:work, see that check; others by nodes that have the workflow"))
		default:
			say(fmt.Sprintf("due for %s and more, and not taken", runsLate), advice("nodes have no free slot for them, or the workflow's concurrency is used up: see core.workflow_waits"))
		}
	}
	return warn(lines, "%s", some(found)), nil
}
