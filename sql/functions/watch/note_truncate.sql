create or replace function core_node.note_truncate()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_watch core.watched_tables := core_private.watch_of(tg_argv[0], tg_relid);
begin
    if v_watch.watch_id is not null then
        perform core_private.note_mutation(
            v_watch.namespace, v_watch.collection, 'truncate', null, null, null, null, v_now, v_watch.emit);
    end if;
    return null;
end $$;
comment on function core_node.note_truncate() is 'Makes one mutation, without rows, of a TRUNCATE of a watched table. Its argument is the number of the watch. Raises 40001, NX110.';
