-- What Postgres shows of other people's sessions depends on pg_read_all_stats; the installer grants it to the owner
-- where it may.
--
-- Locks: whoever keeps a session of Nexus waiting, and whoever holds a lock on one of its tables under which nothing
-- can be written, since sweeps don't wait for such a table but pass over it. A row that a function has locked shows who
-- locked it.
--
-- Whoever merely waits is left out, and whoever it waits for in the end is named in its place: with that one's end it
-- goes on, and to end it would undo somebody's work for nothing.
create or replace function core_private.blockers()
returns table (
    kind text, pid integer, name text, role_name text, application text, state text,
    since timestamptz, age interval, xmin_age bigint, holds_horizon boolean, dead_rows bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now  timestamptz := core_private.now();
    v_dead bigint;
begin
    select coalesce(sum(s.n_dead_tup), 0)
      into v_dead
      from pg_stat_all_tables s
     where s.schemaname in ('core', 'core_node', 'core_private')
        or (s.schemaname = 'pgmq' and s.relname in (select 'q_' || q.queue_name from core.queues q));
    if not pg_has_role(current_user, 'pg_read_all_stats', 'member') then
        return query
            select 'not visible', null::integer, null, null, null, 'grant pg_read_all_stats to nexus_owner;',
                   null::timestamptz, null::interval, null::bigint, null::boolean, v_dead;
    end if;
    return query
        with recursive waits as materialized (
            select w.pid, b.pid as awaited
              from (select distinct x.pid from pg_locks x where not x.granted) w
             cross join unnest(pg_blocking_pids(w.pid)) b (pid)),
        held as materialized (
            select case when a.backend_type = 'walsender' then 'standby' else 'session' end as kind,
                   a.pid, null::text as name, a.usename::text as role_name,
                   a.application_name as application, a.state, coalesce(a.xact_start, a.backend_start) as since,
                   greatest(pg_catalog.age(a.backend_xmin), pg_catalog.age(a.backend_xid))::bigint as xmin_age
              from pg_stat_activity a
             where a.pid <> pg_backend_pid()
               and (a.datname = current_database() or a.datname is null)
               and a.backend_type <> 'autovacuum worker'
               and (a.backend_xmin is not null or a.backend_xid is not null)
             union all
            select 'prepared transaction', null, p.gid, p.owner::text,
                   null, 'prepared', p.prepared,
                   pg_catalog.age(p.transaction)::bigint
              from pg_prepared_xacts p
             where p.database = current_database()
             union all
            select 'replication slot', s.active_pid, s.slot_name::text, null,
                   s.plugin::text, case when s.active then 'active' else 'inactive' end, null,
                   greatest(pg_catalog.age(s.xmin), pg_catalog.age(s.catalog_xmin))::bigint
              from pg_replication_slots s
             where s.xmin is not null or s.catalog_xmin is not null),
        -- Whom the oldest that wait are waiting for. One who has only locked a table holds nothing back by itself.
        chain (pid, xmin_age) as (
            (select h.pid, h.xmin_age
               from held h
              where h.kind = 'session' and h.pid in (select w.pid from waits w)
              order by h.xmin_age desc
              limit 20)
             union
            select w.awaited, c.xmin_age
              from chain c
              join waits w on w.pid = c.pid),
        all_held as (
            select * from held
             union all
            select 'session', a.pid, null, a.usename::text,
                   a.application_name, a.state, coalesce(a.xact_start, a.backend_start),
                   max(c.xmin_age)
              from chain c
              join pg_stat_activity a on a.pid = c.pid
             where a.backend_type <> 'autovacuum worker' and a.pid <> pg_backend_pid()
               and a.pid not in (select x.pid from held x where x.kind = 'session')
             group by a.pid, a.usename, a.application_name, a.state, a.xact_start, a.backend_start)
        select h.kind, h.pid, h.name, h.role_name, h.application, h.state,
               h.since, v_now - h.since, h.xmin_age, h.xmin_age = max(h.xmin_age) over (), v_dead
          from all_held h
         where h.kind <> 'session' or h.pid not in (select w.pid from waits w)
         order by h.xmin_age desc nulls last, h.since
         limit 100;
    return query
        with recursive ours as materialized (
            select c.oid, c.oid::regclass::text as name
              from pg_class c
             where c.relkind in ('r', 'p')
               and (c.relnamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
                    or c.relnamespace = to_regnamespace('pgmq')
                       and c.relname in (select 'q_' || q.queue_name from core.queues q))),
        l as materialized (
            select *
              from pg_locks x
             where x.database in (0, (select d.oid from pg_database d where d.datname = current_database()))
                or x.locktype in ('transactionid', 'virtualxid')),
        waits as materialized (
            select w.pid, b.pid as awaited
              from (select distinct x.pid from l x where not x.granted) w
             cross join unnest(pg_blocking_pids(w.pid)) b (pid)),
        -- Who has something that Nexus cannot pass by.
        holders as (
            select l.pid, format('%s on %s', l.mode, o.name) as name
              from l
              join ours o on o.oid = l.relation
             where l.granted and l.locktype = 'relation'
               and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
             union
            select l.pid, format('%s %s', r.what, r.name)
              from (select 'lock' as what, k.name, k.xmax from core_private.locks k
                     union all
                    select 'sweep', s.name, s.xmax from core_private.sweeps s) r
              join l on l.locktype = 'transactionid' and l.transactionid = r.xmax and l.granted),
        -- Who waits, and for what.
        waiters as (
            select l.pid,
                   format('%s waits for %s',
                          coalesce(nullif(w.application_name, ''), 'session ' || w.pid),
                          coalesce(o.name, case l.locktype when 'transactionid' then 'its rows'
                                                when 'relation' then l.relation::regclass::text
                                                else l.locktype end)) as name,
                   o.oid is not null or w.application_name ^@ 'nexus:' or w.usename = 'nexus_scheduler' as is_ours
              from l
              join pg_stat_activity w on w.pid = l.pid
              -- Who waits for a row waits for a transaction, and meanwhile has the row in the queue of its table.
              left join l t on l.locktype = 'transactionid' and t.pid = l.pid and t.locktype = 'tuple' and t.granted
              left join ours o on o.oid = coalesce(l.relation, t.relation)
             where not l.granted),
        -- With those that they wait for, and so on.
        chain (pid) as (
            select w.pid from waiters w where w.is_ours
             union
            select h.pid from holders h
             union
            select w.awaited
              from chain c
              join waits w on w.pid = c.pid),
        found as (
            select h.pid, h.name from holders h
             union
            select w.awaited, n.name
              from chain c
              join waits w on w.pid = c.pid
              join waiters n on n.pid = c.pid)
        select 'lock', f.pid, string_agg(distinct f.name, ', '), a.usename::text, a.application_name, a.state,
               coalesce(a.xact_start, a.backend_start), v_now - coalesce(a.xact_start, a.backend_start),
               null::bigint, false, v_dead
          from found f
          join pg_stat_activity a on a.pid = f.pid
         where f.pid <> pg_backend_pid() and a.backend_type <> 'autovacuum worker'
           and f.pid not in (select w.pid from waits w)
         group by f.pid, a.usename, a.application_name, a.state, a.xact_start, a.backend_start
         order by 7
         limit 100;
end $$;
comment on function core_private.blockers() is 'Who holds the xmin horizon, the oldest first, and who holds locks that Nexus waits for; none that only wait.';
