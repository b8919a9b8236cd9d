create or replace function core_node.note_row()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set extra_float_digits = 1
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
set intervalstyle = 'postgres'
set bytea_output = 'hex'
set lc_monetary = 'C'
as $$
declare
    v_now   timestamptz := core_private.now();
    v_watch core.watched_tables := core_private.watch_of(tg_argv[0], tg_relid);
    v_op    text := lower(tg_op);
    v_old   jsonb;
    v_new   jsonb;
begin
    if v_watch.watch_id is null
       or not v_watch.emit
          and core_private.mutation_queues(v_watch.namespace, v_watch.collection, v_op) is null then
        return null;
    end if;
    if not core_private.is_blind(tg_relid) then
        v_old := case when tg_op <> 'INSERT' then core_private.row_or_null(old) end;
        v_new := case when tg_op <> 'DELETE' then core_private.row_or_null(new) end;
    end if;
    perform core_private.note_change(v_watch, v_op, v_old, v_new, v_now);
    return null;
end $$;
comment on function core_node.note_row() is 'Makes a mutation of what became of a row of a watched table, or of a partition of one. Its argument is the number of the watch. Raises 40001, NX110.';
