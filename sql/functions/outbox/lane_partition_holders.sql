-- Whoever has a transaction id from before a partition was full may still write to it, and so may one of another
-- database, as far as snapshots tell; who has only a snapshot keeps nothing. Locks are looked at where nothing else is
-- in the way: of the table of all lanes, which dropping takes, and of the partition, which emptying takes. Transactions
-- and prepared ones are told by their locks, which are shown of everybody.
create or replace function core_private.lane_partition_holders()
returns table (
    relation text, bytes bigint, full_at timestamptz, emptied_at timestamptz, kind text,
    namespace text, queue_name text, lane integer, pid integer, name text, role_name text, application text, state text,
    since timestamptz)
language plpgsql stable security definer rows 10
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return query
        with whole as materialized (
            select p.relation, p.full_at, p.emptied_at, p.held_by, p.xid, c.oid
              from core_private.lane_partitions p
              join pg_class c on c.relname = p.relation and c.relnamespace = 'core_private'::regnamespace
             where p.xid is not null
             order by p.upper
             limit 100),
        locks as materialized (
            select l.pid, l.locktype, l.relation, l.transactionid,
                   case when l.pid is null
                        then max(l.transactionid::text) over (partition by l.virtualtransaction) end as prepared
              from pg_locks l
             where l.granted and l.pid is distinct from pg_backend_pid()
               and (l.locktype = 'transactionid' and l.mode = 'ExclusiveLock'
                    or l.locktype = 'relation'
                       and l.database = (select d.oid from pg_database d where d.datname = current_database())
                       and (l.relation = 'core_private.lane_messages'::regclass
                            or l.relation in (select w.oid from whole w)))),
        older as materialized (
            select distinct w.relation, l.pid, l.prepared
              from whole w
              join locks l
                on l.locktype = 'transactionid' and pg_catalog.age(l.transactionid) > pg_catalog.age(w.xid::xid)
             where w.emptied_at is null),
        found as (
            select w.relation, 'lane' as kind, w.held_by, null::integer as pid, null::text as prepared
              from whole w
             where w.held_by is not null
             union all
            select o.relation, 'transaction', null, o.pid, o.prepared
              from older o
             union all
            select distinct w.relation, 'lock', null::integer, l.pid, l.prepared
              from whole w
              join locks l on l.relation in (w.oid, 'core_private.lane_messages'::regclass)
             where w.held_by is null and w.relation not in (select o.relation from older o))
        select w.relation, pg_total_relation_size(w.oid), w.full_at, w.emptied_at,
               case when f.prepared is not null then 'prepared transaction' else f.kind end,
               c.namespace, c.name, k.lane, f.pid, x.gid, coalesce(a.usename, x.owner)::text,
               a.application_name, case when f.prepared is not null then 'prepared' else a.state end,
               coalesce(a.xact_start, x.prepared)
          from whole w
          left join found f on f.relation = w.relation
          left join core_private.consumer_lanes k on k.lane_id = f.held_by
          left join core.consumers c on c.consumer_id = k.consumer_id
          left join pg_stat_activity a on a.pid = f.pid
          left join pg_prepared_xacts x on x.transaction::text = f.prepared
         order by w.relation, coalesce(a.xact_start, x.prepared)
         limit 1000;
end $$;
comment on function core_private.lane_partition_holders() is 'Full partitions of messages of lanes, each with what keeps it. Whoever calls it has asked whether the caller may know.';
