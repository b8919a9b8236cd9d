-- Anyone may set it: what cannot be is ignored.
create or replace function core_private.with_cause(p_options jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_cause text[] := regexp_match(
        current_setting('nexus.cause', true), '^([0-9]{1,6}) ([0-9a-f-]{36})(?: (.{1,200}))?$');
begin
    if v_cause is null or jsonb_typeof(p_options) is distinct from 'object' then
        return p_options;
    end if;
    return jsonb_strip_nulls(jsonb_build_object(
               'depth', v_cause[1]::integer + 1, 'causation_uid', core_private.uuid_if_valid(v_cause[2]),
               'correlation_id', v_cause[3]))
           || p_options;
end $$;
comment on function core_private.with_cause(jsonb) is 'The options of an emit with depth, causation_uid and correlation_id of the delivery that is being handled here, as nexus.cause has it; those that are given stay.';
