-- What a handler leaves behind in its session (deferred triggers, cursors WITH HOLD) runs at the commit as nexus_sql.
-- That transaction has a number by then.
create or replace function core_private.refuse_used_transaction()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if pg_current_xact_id_if_assigned() is not null then
        raise exception using errcode = 'active_sql_transaction',
            message = 'SQL handlers are claimed and run in transactions of their own',
            hint = 'Call it first in its transaction: one owner''s handlers share no transaction with anything else.';
    end if;
    perform core_private.require_read_committed('SQL handlers');
end $$;
comment on function core_private.refuse_used_transaction() is 'Raises 25001 in a transaction that has written or locked anything, 55000 above read committed.';
