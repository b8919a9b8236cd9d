create or replace function core_private.check_option_keys(p_options jsonb, p_known text[], p_field text = 'p_options')
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_bad text;
begin
    if jsonb_typeof(p_options) is distinct from 'object' then
        raise exception using errcode = 'NX005', column = p_field,
            message = format('%s is not an object: %s', p_field, coalesce(left(p_options::text, 100), 'NULL')),
            hint = format('Give an object with some of: %s.', array_to_string(p_known, ', '));
    end if;
    select k into v_bad from jsonb_object_keys(p_options) k where k <> all (p_known) order by k limit 1;
    if found then
        raise exception using errcode = 'NX004', column = coalesce(nullif(left(v_bad, 100), ''), p_field),
            message = format('there is no option %s', quote_literal(left(v_bad, 100))),
            hint = format('Options: %s.', array_to_string(p_known, ', '));
    end if;
end $$;
comment on function core_private.check_option_keys(jsonb, text[], text) is 'Raises NX005 unless it is an object, NX004 for a key that is not known.';
