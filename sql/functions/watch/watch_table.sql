-- As its caller, since only a table's owner can make triggers that he can drop again. The lock is taken before all
-- else, and not at all where the table is watched alike.
create or replace function core.watch_table(
    p_namespace text, p_table regclass, p_collection text, p_options jsonb = '{}')
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_watch record;
    v_make  text;
begin
    select * into v_watch from core_node.register_watch(p_namespace, p_table, p_collection, p_options, false);
    if v_watch.watch_id is not null then
        return v_watch.watch_id;
    end if;
    perform core_node.lock_watched(p_table, v_watch.lock_timeout, 'share row exclusive');
    select * into v_watch from core_node.register_watch(p_namespace, p_table, p_collection, p_options, true);
    foreach v_make in array coalesce(v_watch.statements, '{}') loop -- none where somebody else was faster
        execute v_make;
    end loop;
    return v_watch.watch_id;
end $$;
comment on function core.watch_table(text, regclass, text, jsonb) is 'Makes each change of a row of a table, in the transaction that makes it, a mutation of a collection, by which triggers of kind kv fire: returns the number of the watch. Who owns the table and may produce. Options: ops (some of insert, update, delete; left out: all), columns (that are shown and count; left out: all), key (where the table has no primary key and no replica identity), unchanged (false: updates that change nothing are none), emit (false; true: mutations are ordinary events as well), replica (false; true: also what replication applies), lock_timeout (5 s: how long it waits for the table). Watched alike again nothing is locked. A transaction in REPEATABLE READ that is older than the watch fails with 40001 when it changes the table, and has to be run again. Raises 42501, 55P03, NX004, NX005, NX017, NX016, NX101, NX212, NX401, NX402.';
