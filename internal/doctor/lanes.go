package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// A message that fails for so long keeps all behind it waiting for too long.
const laneBlocked = 5 * time.Minute

// A partition that is full for so long and has its messages yet is kept by something that does not end by itself.
const partitionKept = time.Hour

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
		return lookLanePartitions(ctx, pool)
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
