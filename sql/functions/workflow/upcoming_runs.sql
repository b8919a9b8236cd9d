-- The first of each definition, which an index has in this order: a database may have any number of runs that sleep.
create or replace function core_private.upcoming_runs(p_namespaces text[])
returns table (due_at timestamptz, namespace text, workflow text, run_id uuid, kind text, retrying boolean)
language plpgsql stable security definer rows 100
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
    v_now timestamptz := core_private.now();
begin
    return query
    select c.due_at, d.namespace, d.name, c.run_id,
           case c.state when 'T' then 'time' when 'W' then 'signal' when 'U' then 'undo'
                        else case when c.attempt > 0 then 'retry' else 'node' end end,
           c.attempt > 0
      from core_private.workflow_definitions d
     cross join lateral (
         select x.due_at, x.run_id, x.state, x.attempt, x.token
           from core_private.workflow_cursors x
          where x.def_id = d.def_id and x.due_at is not null
          order by x.due_at
          limit 1000) c
     where d.namespace = any (p_namespaces) and (c.token is null or c.due_at <= v_now)
     union all
    (select r.timeout_at, r.namespace, r.workflow, r.run_id, 'timeout', false
       from core_private.workflow_runs r
      where r.timeout_at is not null and r.status = 'open' and r.namespace = any (p_namespaces)
      order by r.timeout_at
      limit 1000);
end $$;
comment on function core_private.upcoming_runs(text[]) is 'What runs of these namespaces wait for until a time, the first thousand of each definition, and when the first thousand of all are timed out. Whoever calls it has asked which namespaces the caller may read.';
