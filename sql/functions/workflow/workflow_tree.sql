-- The journal has no rows of a sequence, of a loop and of the turn that it is in: these come from the definition, by
-- the keys of what is in them. A wait for a signal is known to the cursor. Of many items twenty are shown, those that
-- went wrong first.
create or replace function core.workflow_tree(p_run_id uuid)
returns table (
    run_id uuid, workflow text, depth integer, key text, kind text, status text, attempts integer, result jsonb,
    error jsonb, completed_at timestamptz)
language plpgsql stable security definer rows 100
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
    v_space text := (select r.namespace from core_private.workflow_runs r where r.run_id = p_run_id);
    v_full  boolean;
begin
    if v_space is null or not v_space = any (core_private.namespaces_read_by(core_private.caller())) then
        return;
    end if;
    v_full := core_private.is_operated_by(v_space, core_private.caller());
    return query
        with recursive linked as (
            select r.run_id, r.def_id, r.continued_as, '{}'::integer[] as place, '{}'::text[] as above
              from core_private.workflow_runs r
             where r.run_id = p_run_id
            union all
            select c.run_id, c.def_id, c.continued_as, l.place || c.place, l.above || c.above
              from linked l
             cross join lateral (
                 select k.run_id, k.def_id, k.continued_as, j.ord || k.parent_attempt as place,
                        array[l.def_id::text, split_part(k.parent_key, '#', 1) collate "default"] as above
                   from core_private.workflow_runs k
                   join core_private.workflow_journal j on j.run_id = l.run_id and j.key = k.parent_key
                  where k.parent_run_id = l.run_id and k.continued_from is null
                  union all
                 select k.run_id, k.def_id, k.continued_as, array[2147483647], '{}'
                   from core_private.workflow_runs k
                  where l.above <> '{}' and k.run_id = l.continued_as) c
             where cardinality(l.place) < 1000),
        outlines as materialized (
            select d.def_id, o.*
              from core_private.workflow_definitions d
             cross join lateral core_private.workflow_outline(d.steps) o
             where d.def_id in (select l.def_id from linked l)),
        levels as materialized (
            select a.above, (
                       select coalesce(sum(o.level + 1), 0)::integer
                         from generate_series(1, cardinality(a.above), 2) i
                         join outlines o on o.def_id = a.above[i]::bigint and o.name = a.above[i + 1]) as level
              from (select distinct l.above from linked l) a),
        runs as materialized (
            select l.run_id, l.def_id, l.place, v.level, w.workflow, w.state, w.result, w.error, w.finished_at
              from linked l
              join levels v on v.above = l.above
              join core_private.workflow_run_states w on w.run_id = l.run_id),
        journaled as (
            select j.run_id, j.key, j.ord, j.seq, j.status, j.attempts, j.result, j.error, j.completed_at
              from core_private.workflow_journal j
             where j.run_id in (select t.run_id from runs t)
             union all
            select c.run_id, c.wait_key, c.wait_ord, 0, 'p', c.attempt, null, null, null
              from core_private.workflow_cursors c
             where c.run_id in (select t.run_id from runs t) and c.state = 'W' and not exists (
                 select from core_private.workflow_journal j where j.run_id = c.run_id and j.key = c.wait_key)),
        keyed as (
            select j.*, right(j.key, 5) = '~undo' as undo,
                   string_to_array(split_part(j.key, '~', 1), '#') as parts
              from journaled j),
        steps as materialized (
            select t.workflow, t.place || k.ord as place, t.level + coalesce(o.level, 1) as level, k.*, o.turns,
                   cardinality(k.parts) - 1 > o.turns as one, o.kind as node, o.ends, o.names, o.kinds, o.levels,
                   o.lengths, o.scopes, t.level as base
              from keyed k
              join runs t on t.run_id = k.run_id
              left join outlines o on o.def_id = t.def_id and o.name = k.parts[1]),
        containers as (
            select s.run_id, s.workflow, s.place[: cardinality(s.place) - cardinality(s.ord) + a.length] as place,
                   s.base + a.level as level, a.kind,
                   array_to_string(a.name || s.parts[2 : a.scope + 1], '#') as key,
                   case when bool_or(s.status = 'c' and case when s.node = 'loop' then s.one and s.result = 'true'
                                                             else not s.one and s.node <> 'route' end
                                     and (a.name = any (s.ends) or a.kind = 'loop' and a.name = s.parts[1]))
                        then 'completed'
                        when bool_or(s.status = 'f') then 'failed'
                        else 'pending' end as status
              from steps s
             cross join lateral (
                 select u.name, u.kind, u.level, u.length, u.scope
                   from unnest(s.names, s.kinds, s.levels, s.lengths, s.scopes) u(name, kind, level, length, scope)
                  union all
                 select s.parts[1], 'loop', s.level - s.base, cardinality(s.ord) - 1, s.turns
                  where s.node = 'loop' and s.one) a
             where not s.undo
             group by 1, 2, 3, 4, 5, 6),
        shown as (
            select i.run_id, i.parts
              from (select s.run_id, s.parts,
                           row_number() over (
                               partition by s.run_id, s.parts[: cardinality(s.parts) - 1]
                               order by min(case s.status when 'f' then 0 when 'p' then 1 else 2 end), min(s.ord)) as n
                      from steps s
                     where s.node = 'map' and s.one
                     group by s.run_id, s.parts) i
             where i.n <= 20),
        lines as (
            select t.run_id, t.workflow, t.level, null::text as key, 'workflow' as kind, t.state as status,
                   null::integer as attempts, t.result, t.error, t.finished_at, t.place, -1::bigint as seq
              from runs t
             union all
            select s.run_id, s.workflow, s.level + coalesce(s.one, false)::integer, s.key,
                   case when s.undo then 'undo' when s.one and s.node = 'loop' then 'turn' when s.one then 'item'
                        when s.key = 'returns' then s.key else s.node end,
                   case s.status when 'c' then 'completed' when 'f' then 'failed' else 'pending' end, s.attempts,
                   s.result, s.error, s.completed_at, s.place, s.seq
              from steps s
             where s.node is distinct from 'map' or not s.one
                or (s.run_id, s.parts) in (select h.run_id, h.parts from shown h)
             union all
            select c.run_id, c.workflow, c.level, c.key, c.kind, c.status, null, null, null, null, c.place, 0
              from containers c
             where not exists (select from steps s where s.run_id = c.run_id and s.key = c.key)
             union all
            select m.run_id, m.workflow, m.level + 1, format('+ %s more', m.n), 'more', null, null, null, null, null,
                   m.place || 2147483647, 0
              from (select s.run_id, s.workflow, s.level, s.place,
                           greatest(jsonb_array_length(s.result), 0) - (
                               select count(*)
                                 from shown h
                                where h.run_id = s.run_id and h.parts[: cardinality(h.parts) - 1] = s.parts) as n
                      from steps s
                     where s.node = 'map' and not s.one and not s.undo
                       and jsonb_typeof(s.result) = 'array') m
             where m.n > 0)
        select l.run_id, l.workflow, l.level, l.key, l.kind, l.status, l.attempts,
               case when v_full then l.result end, l.error, l.finished_at
          from lines l
         order by l.place, l.seq;
end $$;
comment on function core.workflow_tree(uuid) is 'A run as a tree, in the order of execution, with the runs that are steps of it: a row a run, without key and of kind workflow, and one for each step, container, turn of a loop, item of a map and compensation that was begun. Of the items of a map 20 are shown, those that failed or are under way first; a row of kind more says how many there are beside them. A run has the status that core.workflow_runs shows, a step that of the journal: a route is completed when it has chosen. Results are shown to those who may operate the namespace. Empty for a run that is not there, or is not the caller''s to read.';
