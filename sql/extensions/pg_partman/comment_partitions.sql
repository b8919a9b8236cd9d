-- Those that pg_partman made, or an older Nexus.
create or replace function core_private.comment_partitions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_name text;
    v_says text;
begin
    for v_name, v_says in
        select c.relname,
               case when p.is_default
                    then 'Events of core.event_log outside of the months that are there; empty when all is well.'
                    else format('Events of core.event_log that were emitted in %s, UTC.',
                                to_char(p.from_time at time zone 'UTC', 'YYYY-MM')) end
          from core_private.log_partitions() p
          join pg_class c on c.oid = to_regclass(format('core.%I', p.partition_name))
         where (p.is_default or p.is_month)
           and obj_description(c.oid, 'pg_class') is null
           and pg_has_role(c.relowner, 'usage')
    loop
        execute format('comment on table core.%I is %L', v_name, v_says);
    end loop;
end $$;
comment on function core_private.comment_partitions() is 'Says of each partition of the event log what it is, where nothing does.';
