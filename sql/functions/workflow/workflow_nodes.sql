-- Whatever is no array or no object has nothing below it; who checks names it.
create or replace function core_private.workflow_nodes(p_steps jsonb)
returns table (node jsonb, name text, kind text, depth integer, top integer)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    with recursive n as (
        select e.node, 1 as depth, e.i::integer as top
          from jsonb_array_elements(case when jsonb_typeof(p_steps) = 'array' then p_steps else '[]' end)
               with ordinality e(node, i)
         union all
        select c.node, n.depth + 1, n.top
          from n
         cross join lateral (
             select s.node
               from jsonb_array_elements(case when jsonb_typeof(n.node -> 'steps') = 'array'
                                              then n.node -> 'steps' else '[]' end) s(node)
              union all
             select s.node
               from jsonb_each(case when jsonb_typeof(n.node -> 'cases') = 'object'
                                    then n.node -> 'cases' else '{}' end) k
              cross join lateral jsonb_array_elements(case when jsonb_typeof(k.value) = 'array'
                                                           then k.value else '[]' end) s(node)) c
         where n.depth < 30)
    select n.node, n.node ->> 'name', n.node ->> 'kind', n.depth, n.top from n
$$;
comment on function core_private.workflow_nodes(jsonb) is 'All steps of the tree of a workflow, containers too, with the number of the outermost one that each is in.';
