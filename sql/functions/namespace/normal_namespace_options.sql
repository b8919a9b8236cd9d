-- "1h" and "3600 s" are one duration, "on" and true one switch.
create or replace function core_private.normal_namespace_options(p_options jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_options jsonb := p_options;
    v_path    text[];
begin
    foreach v_path slice 1 in array array[array['unhandled_after', null], array['dedupe_for', null], array['retry', 'base'], array['retry', 'max']] loop
        v_path := array_remove(v_path, null);
        if v_options #>> v_path is not null then
            v_options := jsonb_set(v_options, v_path, to_jsonb(extract(epoch from (v_options #>> v_path)::interval)));
        end if;
    end loop;
    if v_options ? 'default_consumer' then
        v_options := jsonb_set(v_options, '{default_consumer}', to_jsonb((v_options ->> 'default_consumer')::boolean));
    end if;
    return v_options;
end $$;
comment on function core_private.normal_namespace_options(jsonb) is 'Checked options in one form, for comparing.';
