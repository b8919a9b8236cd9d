create or replace function core_private.check_trigger_source(p_namespace text, p_source jsonb)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_kind   text := core_private.kind_of_source(p_source);
    v_source jsonb;
begin
    if v_kind is null then
        perform core_private.fail_trigger('p_source',
            format('%s is no source', coalesce(left(p_source::text, 200), 'NULL')),
            format('Give an object with one member of %s, such as {"event": {"pattern": "order.*"}}.',
                   (select string_agg(k.kind, ', ') from core_private.trigger_kinds() k)));
    end if;
    execute format('select core_private.check_%s_source($1, $2)', v_kind)
       into v_source
      using p_namespace, p_source -> v_kind;
    return v_source;
end $$;
comment on function core_private.check_trigger_source(text, jsonb) is 'What stands below the kind of a source, in the form in which it is kept and compared. Raises NX014, and what the function of its kind raises.';
