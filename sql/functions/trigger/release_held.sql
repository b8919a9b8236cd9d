-- Whatever enables a trigger has its deliveries back: enabling it, and replacing it by one that is.
create or replace function core_private.release_held()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := core_private.now();
begin
    update core.delayed d
       set due_at = greatest(v_now, to_timestamp(core_private.header_number(d.headers, 'nexus-held') / 1000000.0)),
           headers = d.headers - 'nexus-held'
     where d.queue_name in (select c.queue_name from core.consumers c where c.namespace = new.namespace and c.routed)
       and d.due_at = 'infinity' and d.message ->> 'triggerId' = new.trigger_id::text;
    if found then
        perform core_private.wake('timers', v_now);
    end if;
    update core.triggers t set held = false where t.trigger_id = new.trigger_id;
    return null;
end $$;
comment on function core_private.release_held() is 'Has the deliveries of a trigger that was held due when they would have been.';

create or replace trigger release_held
    after update on core.triggers
    for each row when (old.held and new.enabled) execute function core_private.release_held();
