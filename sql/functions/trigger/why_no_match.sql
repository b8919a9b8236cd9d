create or replace function core_private.why_no_match(p_trigger_id uuid, p_kind text, p_event_type text, p_payload jsonb)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_why text;
begin
    execute format('select core_private.why_not_%s($1, $2, $3)', p_kind)
       into v_why
      using p_trigger_id, p_event_type, p_payload;
    return v_why;
end $$;
comment on function core_private.why_no_match(uuid, text, text, jsonb) is 'Why an event does not match a trigger, in a word; NULL if it does.';
