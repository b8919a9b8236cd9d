create or replace function core_private.max_trigger_depth(p_namespace text)
returns integer
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return coalesce((select n.max_trigger_depth from core.namespaces n where n.namespace = p_namespace),
                    (select s.max_trigger_depth from core_private.settings s));
end $$;
comment on function core_private.max_trigger_depth(text) is 'How deep in its chain an event may lie for triggers to fire: so ends a handler that makes what fired it.';
