-- The argument of a trigger names the watch, and anybody may make a trigger with any argument: so it has to be one of
-- the table, or of the root of its partitions. Most namespaces have no triggers of mutations, and are asked no more.
--
-- A transaction that sees the database as it was before the watch fires its triggers all the same, and would leave none
-- of its changes.
create or replace function core_private.watch_of(p_watch_id text, p_relation oid)
returns core.watched_tables
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_watch core.watched_tables;
begin
    select w.* into v_watch
      from core.watched_tables w
     where w.watch_id = p_watch_id::bigint and w.enabled
       and (w.relation = p_relation or w.relation = pg_partition_root(p_relation))
       and (w.emit or exists (select from core_private.kv_routes r where r.namespace = w.namespace));
    if not found and current_setting('transaction_isolation') in ('repeatable read', 'serializable')
       and not exists (select from core.watched_tables w where w.watch_id = p_watch_id::bigint) then
        raise exception using errcode = 'serialization_failure',
            message = format('table %s is watched since after this transaction began', p_relation::regclass),
            hint = 'Run the transaction again.';
    end if;
    return v_watch;
end $$;
comment on function core_private.watch_of(text, oid) is 'The watch that a trigger on a table names, if it is of that table and on, and something may come of it. Raises 40001 where it is newer than what a transaction in REPEATABLE READ sees.';
