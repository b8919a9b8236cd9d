-- Before a step is what its block did before it, and what stands beside it: other branches and items, which do not rest
-- on it. Of what is around it only what was decided before it counts: the choice of a route, the items of a map, which
-- go on under their numbers. side says of each position of ord whether what differs there stands side by side.
create or replace function core_private.journal_before(p_run uuid, p_steps jsonb, p_key text)
returns table (key text, status "char")
language sql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
    with recursive tree as (
        select e.node, array[false] as side
          from jsonb_array_elements(p_steps) e(node)
         union all
        select c.node, t.side || c.more
          from tree t
         cross join lateral (
             select s.node, case t.node ->> 'kind' when 'parallel' then array[true] when 'loop' then array[false, false]
                                                   else array[false] end as more
               from jsonb_array_elements(coalesce(t.node -> 'steps', '[]')) s(node)
              union all
             select s.node, array[false, false]
               from jsonb_each(coalesce(t.node -> 'cases', '{}')) k
              cross join lateral jsonb_array_elements(k.value) s(node)) c),
    target as (
        select j.ord, t.side || (t.node ->> 'kind' = 'map') as side
          from core_private.workflow_journal j
          join tree t on t.node ->> 'name' = split_part(j.key, '#', 1)
         where j.run_id = p_run and j.key = p_key)
    select j.key, case when d.around then case t.node ->> 'kind' when 'map' then 'p' else 'c' end else 'c' end::"char"
      from target g
      join core_private.workflow_journal j on j.run_id = p_run
      join tree t on t.node ->> 'name' = split_part(j.key, '#', 1)
     cross join lateral (
         select min(i) as at, coalesce(min(i) > cardinality(j.ord), false) as around
           from generate_subscripts(g.ord, 1) i
          where j.ord[i] is distinct from g.ord[i]) d
     where right(j.key, 5) <> '~undo' and j.key <> p_key
       and case when d.around then t.node ->> 'kind' = 'map' or t.node ->> 'kind' = 'route' and j.status = 'c'
                else j.status = 'c' and (j.ord[d.at] < g.ord[d.at] or g.side[d.at]) end
$$;
comment on function core_private.journal_before(uuid, jsonb, text) is 'The keys of what a run had done before it came to a step, given by its key, with the status that they have for who goes on from there.';
