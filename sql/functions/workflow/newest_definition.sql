create or replace function core_private.newest_definition(p_namespace text, p_workflow text)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (select d.def_id
              from core_private.workflow_definitions d
             where d.namespace = p_namespace and d.name = p_workflow
             order by d.last_registered_at desc, d.def_id desc
             limit 1);
end $$;
comment on function core_private.newest_definition(text, text) is 'The definition that was registered last; NULL if there is none.';
