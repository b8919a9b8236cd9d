-- Retention is the one function that deletes from it. How functions are told from hands: core_private.note_by_hand.
create or replace function core_private.keep_audit_log()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'NX403', column = tg_table_name,
        message = format('%I.%I takes no %s', tg_table_schema, tg_table_name, tg_op),
        hint = 'It is written by the functions that do what it tells, and its rows go after 400 days.';
end $$;
comment on function core_private.keep_audit_log() is 'Raises NX403.';

create or replace trigger keep_rows before update or delete on core.audit_log for each row
    when (current_user <> 'nexus_owner' or current_setting('search_path') <> 'pg_catalog, pg_temp')
    execute function core_private.keep_audit_log();
create or replace trigger keep_all before truncate on core.audit_log for each statement
    execute function core_private.keep_audit_log();
