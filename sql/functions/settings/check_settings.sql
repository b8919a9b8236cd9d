-- What the whole database and a namespace can say alike. A namespace goes back to what the database says by "default".
create or replace function core_private.check_settings(p_options jsonb, p_default boolean)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_key  text;
    v_said jsonb := p_options;
begin
    if p_default then
        v_said := (select coalesce(jsonb_object_agg(o.key, o.value), '{}')
                     from jsonb_each(p_options) o
                    where o.value <> '"default"');
    end if;
    if v_said ? 'max_trigger_depth' and not coalesce(jsonb_path_exists(v_said,
        'strict $.max_trigger_depth ? (@.type() == "number" && @ >= 1 && @ <= 1000 && @.floor() == @)'), false) then
        perform core_private.fail_option('max_trigger_depth', v_said -> 'max_trigger_depth',
            'Give a whole number, 1 to 1000.');
    end if;
    if v_said ? 'trigger_retry' then
        perform core_private.check_policy(v_said -> 'trigger_retry', 'trigger_retry');
    end if;
    foreach v_key in array array['dead_letter_retention', 'abandoned_retention'] loop
        if v_said ? v_key then
            perform core_private.parse_interval(v_said -> v_key, v_key, '1 hour', '100 years');
        end if;
    end loop;
end $$;
comment on function core_private.check_settings(jsonb, boolean) is 'Raises NX005 or NX007 for settings that cannot be.';
