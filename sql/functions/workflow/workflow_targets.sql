-- NULL keeps those apart who have nothing to wait for.
create or replace function core_private.workflow_targets(p_namespace text)
returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (select coalesce(
                       array_agg(h.key::text order by h.key) filter (where exists (
                           select
                             from core_private.workflow_definitions d
                            where d.namespace = h.namespace and d.name = substr(h.key, 10))), '{}')
              from core.handlers h
             where h.namespace = p_namespace and h.kind = 'workflow'
            having count(*) > 0);
end $$;
comment on function core_private.workflow_targets(text) is 'The keys of workflows that triggers or requests have named and that some node has registered; NULL if none was named.';
