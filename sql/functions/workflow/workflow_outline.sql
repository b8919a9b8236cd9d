-- length is how far ord goes at the node itself: a turn, an item and the case of a route are positions of it too. The
-- containers around are given from the outside in, each turn as one of its own; ends are the sequences that are over
-- with the node.
create or replace function core_private.workflow_outline(p_steps jsonb)
returns table (
    name text, kind text, level integer, turns integer, ends text[], names text[], kinds text[], levels integer[],
    lengths integer[], scopes integer[])
language sql immutable rows 100
set search_path = pg_catalog, pg_temp
as $$
    with recursive n as (
        select e.node, 1 as level, 1 as length, 0 as turns, '{}'::text[] as ends, '{}'::text[] as names,
               '{}'::text[] as kinds, '{}'::integer[] as levels, '{}'::integer[] as lengths, '{}'::integer[] as scopes
          from jsonb_array_elements(p_steps) e(node)
         union all
        select c.node, n.level + 1 + o.loop, n.length + case o.kind when 'route' then 2 else 1 + o.loop end,
               n.turns + o.loop,
               case when c.last and o.kind = 'sequence' then n.ends || o.name
                    when c.last and o.kind = 'route' then n.ends
                    else '{}' end,
               n.names || case o.loop when 1 then array[o.name, o.name] else array[o.name] end,
               n.kinds || case o.loop when 1 then '{loop,turn}' else array[o.kind] end,
               n.levels || case o.loop when 1 then array[n.level, n.level + 1] else array[n.level] end,
               n.lengths || case o.loop when 1 then array[n.length, n.length + 1] else array[n.length] end,
               n.scopes || case o.loop when 1 then array[n.turns, n.turns + 1] else array[n.turns] end
          from n
         cross join lateral (
             select n.node ->> 'kind' as kind, n.node ->> 'name' as name,
                    (n.node ->> 'kind' = 'loop')::integer as loop) o
         cross join lateral (
             select s.node, s.i = jsonb_array_length(n.node -> 'steps') as last
               from jsonb_array_elements(coalesce(n.node -> 'steps', '[]')) with ordinality s(node, i)
              union all
             select s.node, s.i = jsonb_array_length(k.value) as last
               from jsonb_each(coalesce(n.node -> 'cases', '{}')) k
              cross join lateral jsonb_array_elements(k.value) with ordinality s(node, i)) c)
    select n.node ->> 'name', n.node ->> 'kind', n.level, n.turns, n.ends, n.names, n.kinds, n.levels, n.lengths,
           n.scopes
      from n
$$;
comment on function core_private.workflow_outline(jsonb) is 'Each node of a definition, with what is around it: of the containers their names, kinds, levels of the tree, lengths of ord, and how many turns are in their keys.';
