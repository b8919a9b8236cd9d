-- Under the name that pg_partman would give it, or the next one that is free: a month that was detached may still stand
-- there. Made first and attached then, which lets those who emit go on.
create or replace function core_private.create_month(p_from timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set datestyle = 'ISO'
set timezone = 'UTC'
as $$
declare
    v_name text := 'event_log_p' || to_char(p_from, core_private.partman_suffix());
begin
    select n.name into v_name
      from (select v_name || case when g > 0 then '_' || g else '' end as name, g from generate_series(0, 1000) g) n
     where to_regclass(format('core.%I', n.name)) is null
     order by n.g limit 1;
    execute format('create table core.%I (like core.event_log including all)', v_name);
    execute format('comment on table core.%I is %L', v_name,
                   format('Events of core.event_log that were emitted in %s, UTC.', to_char(p_from, 'YYYY-MM')));
    execute format('alter table core.event_log attach partition core.%I for values from (%L) to (%L)',
                   v_name, p_from, p_from + interval '1 month');
end $$;
comment on function core_private.create_month(timestamptz) is 'Makes the partition of the event log for a month, which begins at midnight UTC.';
