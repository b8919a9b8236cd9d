package doctor

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
)

// lookTriggers looks for what is in the way of triggers: nobody handles the target, its function is gone, the role that registered it has lost the
// right, events lie too deep, a look back waits.
func lookTriggers(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type state struct {
		Namespace, Name, Target, By   string
		PrincipalOK, Handled, Missing bool
		Drops                         int
		Waits                         int64
	}
	bad, err := records[state](ctx, pool, `select s.namespace, s.name, s.target, s.registered_by, s.principal_ok, s.handled, s.missing, s.drops, s.waits
		  from (select t.*, h.kind = 'sql' and pg_catalog.to_regprocedure(h.function) is null as missing,
		               case when t.match_back = 'waiting' then coalesce(t.match_back_waits_for, 0) else 0 end as waits
		          from core.trigger_status t
		          join core.handlers h on h.namespace = t.namespace and h.key = t.target) s
		 where s.drops > 0 or s.enabled and (not s.principal_ok or not s.handled or s.missing or s.waits > 0)
		 order by s.principal_ok, s.missing desc, s.handled, 1, 2 limit 100`)
	if err != nil {
		return finding{}, err
	}
	if len(bad) == 0 {
		return ok("each may be delivered, and somebody handles it"), nil
	}
	var found []string
	var lines mend
	for _, t := range bad {
		say := func(what string, m mend) {
			found = append(found, fmt.Sprintf("%s/%s: %s", t.Namespace, t.Name, what))
			lines = append(lines, m...)
		}
		switch {
		case !t.PrincipalOK:
			say(fmt.Sprintf("%s, who registered it, has no right to it any more", t.By), mend{
				statement("select core.hand_over_triggers((select registered_by_principal::text from core.triggers where namespace = %s and name = %s), 'NEW_ROLE', %s); -- as a member of nexus_admin; then replay what died",
					literal(t.Namespace), literal(t.Name), literal(t.Namespace)),
			})
		case t.Missing:
			say("the function of "+t.Target+" is gone", mend{
				statement("select * from core.handlers where namespace = %s and key = %s; -- as a member of nexus_reader: make that function again, or another handler", literal(t.Namespace), literal(t.Target)),
			})
		case !t.Handled:
			say("no live node handles "+t.Target, mend{
				advice("start a node that has the handler %s of namespace %s", t.Target, t.Namespace),
				or + statement("select core.disable_trigger(%s, %s, true); -- as a member of nexus_operator: holds what is queued until then", literal(t.Namespace), literal(t.Name)),
			})
		case t.Waits > 0:
			say(fmt.Sprintf("its look back waits for %s that began before it", plural(int(t.Waits), "transaction")), mend{
				advice(`see the checks "xmin horizon" and "locks", or core.blockers: it begins when they have ended`),
			})
		}
		if t.Drops > 0 {
			say(fmt.Sprintf("%s lay too deep for it", plural(t.Drops, "event")), mend{
				statement("select * from core.trigger_drops where namespace = %s order by drop_id desc limit 100; -- as a member of nexus_reader: a handler that makes what fires it, unless max_trigger_depth is low",
					literal(t.Namespace)),
			})
		}
	}
	return warn(lines, "%s", some(found)), nil
}

// lookClaims looks for claims of dead letters whose holder let their time run out.
func lookClaims(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type claim struct {
		Namespace, By string
		Count         int
	}
	bad, err := records[claim](ctx, pool, `select c.namespace, coalesce(c.claimed_by, ''), count(*)::int
		  from (select x.namespace, x.claimed_by from core.dead_letter_claims x where x.expired limit 10000) c group by 1, 2 order by 3 desc limit 100`)
	if err != nil {
		return finding{}, err
	}
	if len(bad) == 0 {
		return ok("none ran out"), nil
	}
	var found []string
	for _, c := range bad {
		found = append(found, fmt.Sprintf("%s: %s of %s", c.Namespace, plural(c.Count, "claim"), c.By))
	}
	return warn(mend{
		advice("whoever claimed them died, or takes longer than they asked for: see after that program, and have it call core.extend_dead_letters"),
		statement("select * from core.dead_letter_claims where expired limit 100; -- as a member of nexus_reader: anybody may take them now"),
	}, "%s", some(found)), nil
}
