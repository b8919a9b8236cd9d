-- Begins at the event log, behind a fence, and casts afterwards: bounds of other partitioned tables are no times, and a
-- plan that looked at those first would fail on them. They are written and read in one style and one zone, whatever the
-- session has.
create or replace function core_private.log_partitions()
returns table (
    relation regclass, partition_name text, from_time timestamptz, to_time timestamptz,
    is_default boolean, is_month boolean, owner name)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set datestyle = 'ISO'
set timezone = 'UTC'
as $$
#variable_conflict use_column
begin
    return query
        with ours as materialized (
            select i.inhrelid, i.inhparent
              from pg_inherits i
             where i.inhparent = 'core.event_log'::regclass and not i.inhdetachpending),
        named as materialized (
            select c.oid, c.relname, c.relkind, c.relowner, p.relowner as wanted_owner,
                   pg_get_expr(c.relpartbound, c.oid) as bound
              from ours o
              join pg_class c on c.oid = o.inhrelid
              join pg_class p on p.oid = o.inhparent),
        bounded as materialized (
            select n.oid, n.relname, n.relkind, n.relowner, n.bound,
                   case when n.bound like '%FROM (MINVALUE)%' then '-infinity'
                        else ((regexp_match(n.bound, 'FROM [(]''([^'']+)''[)]'))[1])::timestamptz end as lower,
                   case when n.bound like '%TO (MAXVALUE)%' then 'infinity'
                        else ((regexp_match(n.bound, 'TO [(]''([^'']+)''[)]'))[1])::timestamptz end as upper
              from named n)
        select b.oid::regclass, b.relname::text, b.lower, b.upper, b.bound = 'DEFAULT',
               coalesce(b.relkind = 'r' and b.lower = date_trunc('month', b.lower)
                            and b.upper = b.lower + interval '1 month',
                        false),
               pg_get_userbyid(b.relowner)
          from bounded b;
end $$;
comment on function core_private.log_partitions() is
    'Partitions of the event log: bounds, whether they are those of a month of UTC, and the owner.';
