-- As its caller. What was set before holds again, also after an error, which undoes it by itself.
create or replace function core_node.lock_watched(p_table regclass, p_timeout text, p_mode text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_before text := current_setting('lock_timeout');
begin
    if (p_mode in ('share row exclusive', 'access exclusive') and exists (
            select from pg_class c where c.oid = p_table and c.relkind in ('r', 'p'))) is not true then
        return;
    end if;
    perform set_config('lock_timeout', p_timeout, true);
    begin
        execute format('lock table %s in %s mode', p_table, p_mode);
    exception when lock_not_available then
        raise exception using errcode = 'lock_not_available', column = 'p_table',
            message = format('table %s is in use by %s', p_table,
                             coalesce(core_node.table_blockers(p_table), 'somebody')),
            hint = 'Wait for the end of that transaction, or give another lock_timeout.';
    end;
    perform set_config('lock_timeout', v_before, true);
end $$;
comment on function core_node.lock_watched(regclass, text, text) is 'Locks a table for a change of its triggers. Raises 55P03, which names who has it.';
