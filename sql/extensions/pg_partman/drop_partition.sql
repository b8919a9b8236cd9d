-- The owner of the schema may drop a table that somebody else owns. What may not be dropped, or has dependents, is
-- detached and stays.
create or replace function core_private.drop_partition(p_relation regclass)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    execute format('drop table %s', p_relation);
exception when insufficient_privilege or dependent_objects_still_exist then
    execute format('alter table core.event_log detach partition %s', p_relation);
end $$;
comment on function core_private.drop_partition(regclass) is 'Drops a partition of the event log, or detaches it where it may not be dropped.';
