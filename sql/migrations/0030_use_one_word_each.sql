-- What holds the same is called the same: queue_name and event_type, as in the other tables and views. Only the catalog is written. Views keep
-- the names they gave to columns, which "create or replace" cannot change; renamed, what somebody built on them stays.
alter table core.dead_letters rename column queue to queue_name;
alter table core.delivery_errors rename column queue to queue_name;
alter table core.parked rename column queue to queue_name;
alter table core.scheduled_events rename column type to event_type;
do $$
declare
    v_view regclass;
begin
    for v_view in
        select a.attrelid from pg_attribute a
         where a.attrelid in (to_regclass('core.unresolved_dead_letters'), to_regclass('core.unhandled_types')) and a.attname = 'queue'
    loop
        execute format('alter view %s rename column queue to queue_name', v_view);
    end loop;
end $$;
drop function if exists core.event_status(bigint, boolean);
