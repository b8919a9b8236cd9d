-- A scheduled event that has failed goes with the last of its dead letters. What belongs to other kinds of work is
-- removed with the work.
create or replace function core_private.remove_resolved(
    p_until timestamptz, p_limit integer, p_stop timestamptz, p_only text[], p_but text[],
    out dead_letters integer, out scheduled_events integer)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_closed text[] := core_private.closed_namespaces() || p_but;
    v_dead   integer;
    v_events integer;
begin
    dead_letters := 0;
    scheduled_events := 0;
    loop
        with gone as (
            delete from core.dead_letters l
             using (
                select x.dead_letter_id
                  from core.dead_letters x
                 where x.resolved_at <= p_until and x.namespace <> all (v_closed)
                   and (p_only is null or x.namespace = any (p_only))
                 order by x.resolved_at
                 limit p_limit
                   for update skip locked) old
             where l.dead_letter_id = old.dead_letter_id
            returning l.dead_letter_id, l.namespace, l.source_kind, l.source_ref),
        failed as (
            delete from core.scheduled_events e
             using gone g
             where g.source_kind = 'task' and e.schedule_id = (g.source_ref ->> 'scheduleId')::uuid
               and e.namespace = g.namespace and e.status = 'failed'
               and not exists (
                   select
                     from core.dead_letters l
                    where l.source_kind = 'task' and l.namespace = g.namespace
                      and l.source_ref = g.source_ref
                      and l.dead_letter_id not in (select o.dead_letter_id from gone o))
            returning e.schedule_id)
        select (select count(*) from gone), (select count(*) from failed)
          into v_dead, v_events;
        dead_letters := dead_letters + v_dead;
        scheduled_events := scheduled_events + v_events;
        exit when v_dead < p_limit or clock_timestamp() > p_stop;
    end loop;
end $$;
comment on function core_private.remove_resolved(timestamptz, integer, timestamptz, text[], text[]) is 'Removes dead letters of the namespaces p_only (NULL: all), but for those of p_but, that were resolved at p_until or earlier, p_limit a statement, until none is left or p_stop has passed; returns how many, and how many scheduled events went with them.';
