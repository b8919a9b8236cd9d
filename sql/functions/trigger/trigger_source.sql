create or replace function core_private.trigger_source(p_trigger_id uuid, p_kind text)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source jsonb;
begin
    execute format('select core_private.%s_source($1)', p_kind) into v_source using p_trigger_id;
    return v_source;
end $$;
comment on function core_private.trigger_source(uuid, text) is 'The details of a trigger, as core_private.check_trigger_source has them.';
