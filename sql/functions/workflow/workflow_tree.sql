create or replace function core.workflow_tree(p_run_id uuid)
returns table (
    run_id uuid, workflow text, depth integer, key text, status text, attempts integer, result jsonb, error jsonb,
    completed_at timestamptz)
language plpgsql stable security definer rows 100
set search_path = pg_catalog, pg_temp
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
        with recursive runs as (
            select r.run_id, r.workflow, r.status, r.result, r.error, r.finished_at, '{}'::integer[] as place,
                   0 as level
              from core_private.workflow_runs r
             where r.run_id = p_run_id
            union all
            select c.run_id, c.workflow, c.status, c.result, c.error, c.finished_at,
                   p.place || j.ord || c.parent_attempt, p.level + cardinality(j.ord) + 1
              from runs p
              join core_private.workflow_runs c on c.parent_run_id = p.run_id and c.continued_from is null
              join core_private.workflow_journal j on j.run_id = p.run_id and j.key = c.parent_key
             where p.level < 100),
        lines as (
            select t.run_id, t.workflow, t.level, null::text as key, t.status, null::integer as attempts,
                   t.result, t.error, t.finished_at, t.place, 0::bigint as seq
              from runs t
            union all
            select t.run_id, t.workflow, t.level + cardinality(j.ord), j.key,
                   case j.status when 'c' then 'completed' when 'f' then 'failed' else 'pending' end, j.attempts,
                   j.result, j.error, j.completed_at, t.place || j.ord, j.seq
              from runs t
              join core_private.workflow_journal j on j.run_id = t.run_id)
        select l.run_id, l.workflow, l.level, l.key, l.status, l.attempts,
               case when v_full then l.result end, l.error, l.finished_at
          from lines l
         order by l.place, l.seq;
end $$;
comment on function core.workflow_tree(uuid) is 'The journal of a run in the order of execution, with the runs that are steps of it: a row a run, without key, and one a step. Results are shown to those who may operate the namespace. Empty for a run that is not there, or is not the caller''s to read.';
