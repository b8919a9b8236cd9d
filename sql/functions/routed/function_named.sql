create or replace function core_private.function_named(p_name jsonb)
returns oid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_function oid;
begin
    if jsonb_typeof(p_name) = 'string' then
        begin
            v_function := core_private.handler_oid(regexp_replace(p_name #>> '{}', '[[:space:]]', '', 'g'));
        exception when invalid_parameter_value or invalid_name then
            v_function := null; -- no identifier
        end;
    end if;
    if v_function is null then
        raise exception using errcode = 'NX006', column = 'function',
            message = format('there is no function %s', coalesce(left(p_name::text, 200), 'NULL')),
            hint = 'Give its schema, name and argument: "schema.name(jsonb)".';
    end if;
    return v_function;
end $$;
comment on function core_private.function_named(jsonb) is 'The function (jsonb) of that name with its schema. Raises NX006.';
