-- Nodes look at core.delayed when the next of it is due and every five seconds at the latest, so only
-- what is due before that calls them.
create or replace function core_private.wake_for_delayed()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := core_private.now();
begin
    if exists (select from delayed_now d where d.due_at < v_now + interval '6 seconds') then
        perform core_private.wake('timers', v_now);
    end if;
    return null;
end $$;
comment on function core_private.wake_for_delayed() is 'After deliveries were delayed: wakes the nodes that sleep beyond the time at which one of them is due.';
