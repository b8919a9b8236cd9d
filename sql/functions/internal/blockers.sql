-- What Postgres shows of other people's sessions depends on pg_read_all_stats; the installer grants it to the owner where it may.
create or replace function core_private.blockers()
returns table (kind text, pid integer, name text, role_name text, application text, state text, since timestamptz, age interval,
               xmin_age bigint, holds_horizon boolean, dead_rows bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now  timestamptz := clock_timestamp();
    v_dead bigint;
begin
    select coalesce(sum(s.n_dead_tup), 0) into v_dead from pg_stat_all_tables s
     where s.schemaname in ('core', 'core_private') or (s.schemaname = 'pgmq' and s.relname in (select 'q_' || q.queue_name from core.queues q));
    if not pg_has_role(current_user, 'pg_read_all_stats', 'member') then
        return query select 'not visible', null::integer, null, null, null, 'grant pg_read_all_stats to nexus_owner;', null::timestamptz, null::interval, null::bigint, null::boolean, v_dead;
    end if;
    return query
        with held as (
            select case when a.backend_type = 'walsender' then 'standby' else 'session' end as kind, a.pid, null::text as name, a.usename::text as role_name,
                   a.application_name as application, a.state, coalesce(a.xact_start, a.backend_start) as since,
                   greatest(pg_catalog.age(a.backend_xmin), pg_catalog.age(a.backend_xid))::bigint as xmin_age
              from pg_stat_activity a
             where a.pid <> pg_backend_pid() and (a.datname = current_database() or a.datname is null) and a.backend_type <> 'autovacuum worker'
               and (a.backend_xmin is not null or a.backend_xid is not null)
             union all
            select 'prepared transaction', null, p.gid, p.owner::text, null, 'prepared', p.prepared, pg_catalog.age(p.transaction)::bigint
              from pg_prepared_xacts p where p.database = current_database()
             union all
            select 'replication slot', s.active_pid, s.slot_name::text, null, s.plugin::text, case when s.active then 'active' else 'inactive' end, null,
                   greatest(pg_catalog.age(s.xmin), pg_catalog.age(s.catalog_xmin))::bigint
              from pg_replication_slots s where s.xmin is not null or s.catalog_xmin is not null)
        select h.kind, h.pid, h.name, h.role_name, h.application, h.state, h.since, v_now - h.since, h.xmin_age,
               h.xmin_age = max(h.xmin_age) over (), v_dead
          from held h order by h.xmin_age desc nulls last, h.since limit 100;
end $$;
comment on function core_private.blockers() is 'Who holds the xmin horizon, the oldest first.';
