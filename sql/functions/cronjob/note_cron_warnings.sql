-- A notice reaches the author of the task, in psql as on the command line. By default the server's log does not get
-- it.
create or replace function core_private.note_cron_warnings(p_spec jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_warning text;
begin
    foreach v_warning in array array(select jsonb_array_elements_text(p_spec -> 'warnings')) loop
        raise notice using message = format('cron expression "%s": %s', p_spec ->> 'expression', v_warning);
    end loop;
end $$;
comment on function core_private.note_cron_warnings(jsonb) is 'Says what compile_cron found that is allowed and seldom meant, as notices.';
