package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// A message that fails for so long keeps all behind it waiting for too long.
const laneBlocked = 5 * time.Minute

// What waits for so long for a node that does it waits for one that was forgotten, or is gone.
const laneAlone = time.Minute

// A partition that is full for so long and has its messages yet is kept by something that does not end by itself.
const partitionKept = time.Hour

// lookLanes looks for lanes that stand still, and for queues that nobody works.
func lookLanes(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type lane struct {
		Namespace, Queue, Lane string
		Foreign, Alone         bool // Alone: no live node does it, and Lanes are how many wait for one
		Lanes                  int
		Ordered                bool
		Why, Error             string
	}
	bad, err := records[lane](ctx, pool, `with s as materialized (
			select l.*, l.why like 'restored%' as foreign_server, l.why like 'no live node %' as alone from core.lane_status l where l.why is not null)
		select * from (
			select s.namespace, s.queue, s.lane::text, s.foreign_server, false, 0, false, s.why, coalesce(pg_catalog.left(s.last_error, 100), '')
			  from s where not s.alone and (s.state <> 'active' or s.foreign_server or s.blocked_since < core.now() - $1::interval)
			 order by s.foreign_server desc, s.blocked_since, s.namespace, s.queue, s.lane limit 100) b
		 union all
		select * from (
			select s.namespace, s.queue, pg_catalog.min(s.lane)::text, false, true, pg_catalog.count(*)::int, c.kind = 'ordered', s.why, ''
			  from s join core.consumers c on c.namespace = s.namespace and c.name = s.queue
			 where s.alone and s.lag_time > $2::interval group by s.namespace, s.queue, s.why, c.kind
			 order by s.namespace, s.queue, s.why limit 100) a`, laneBlocked, laneAlone)
	if err != nil {
		return finding{}, err
	}
	if len(bad) == 0 {
		return lookLanePartitions(ctx, pool)
	}
	if bad[0].Foreign {
		return broken(mend{statement("select core.lanes_rebase(); -- as a member of nexus_admin, before processors run")},
			"%s/%s was restored from another server, and no lane of it is handed out", bad[0].Namespace, bad[0].Queue), nil
	}
	var found []string
	var lines mend
	for i, l := range bad {
		switch {
		case l.Alone:
			found = append(found, fmt.Sprintf("%s/%s: %s, and messages wait in %s", l.Namespace, l.Queue, l.Why, plural(l.Lanes, "lane")))
			if l.Ordered {
				lines = append(lines, advice("start a node that handles it for consumer %s of namespace %s", l.Queue, l.Namespace))
				continue
			}
			lines = append(lines, advice("start a node with a processor of queue %s of namespace %s", l.Queue, l.Namespace))
			continue
		case i == 0:
			lines = append(lines, advice("mend the handler; then have the lane go on, or make a dead letter of the message that it stands at with core.lane_skip"),
				statement("select core.lane_resume(%s, %s, %s); -- as a member of nexus_operator", literal(l.Namespace), literal(l.Queue), l.Lane))
		}
		text := fmt.Sprintf("%s/%s lane %s: %s", l.Namespace, l.Queue, l.Lane, l.Why)
		if l.Error != "" {
			text += ": " + l.Error
		}
		found = append(found, text)
	}
	return warn(lines, "%s", some(found)), nil
}

// lookLanePartitions looks for partitions that can't be dropped.
func lookLanePartitions(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type partition struct {
		Partition, Size, Age, By, Name string
		Pid, All                       int
		Super                          bool
	}
	kept, err := records[partition](ctx, pool, `select p.partition, pg_catalog.pg_size_pretty(pg_catalog.sum(p.bytes) over ()) as size, pg_catalog.date_trunc('minute', core.now() - p.full_at)::text as age,
			p.kept_by, coalesce(p.name, ''), coalesce(p.pid, 0), pg_catalog.count(*) over (), `+ofSuperuser+`
		  from (select distinct on (l.partition) l.*,
		               case l.kind when 'lane' then coalesce(pg_catalog.format('lane %s of %s/%s', l.lane, l.namespace, nullif(l.queue, '')), 'a lane')
		                    when 'prepared transaction' then l.kind || ' ' || coalesce(l.name, '')
		                    else pg_catalog.format('a %s of process %s, %s', l.kind, l.pid, coalesce(nullif(l.application, ''), l.role_name, 'not visible')) end as kept_by
		          from core.lane_partitions l
		         where l.emptied_at is null and l.kind is not null and l.full_at < core.now() - $1::interval
		         order by l.partition, l.since) p
		 order by p.full_at, p.partition limit 1`, partitionKept)
	if err != nil || len(kept) == 0 {
		return ok("all go on"), err
	}
	p, as := kept[0], mend{advice("have the lane go on, which core.lane_status names; what it has behind it is dropped then")}
	switch {
	case p.Pid != 0:
		as = mend{endSession(p.Pid, p.Super)}
	case p.Name != "":
		as = mend{statement("rollback prepared %s; -- as its owner or a superuser; or commit it", literal(p.Name))}
	}
	return warn(as, "%d full partitions of messages, %s, are kept; the oldest, %s, for %s by %s", p.All, p.Size, p.Partition, p.Age, p.By), nil
}
