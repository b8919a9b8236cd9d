-- The first of each definition, which an index has in this order: a database may have any number of runs that sleep,
-- and whoever looks looks at the first. What nodes have in hand just then is passed over, and is little.
create or replace function core_private.upcoming_runs(p_namespaces text[])
returns table (due_at timestamptz, namespace text, workflow text, run_id uuid, kind text, retrying boolean)
language plpgsql stable security definer rows 100
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
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
         select x.due_at, x.run_id, x.state, x.attempt
           from core_private.workflow_cursors x
          where x.def_id = d.def_id and x.due_at is not null and (x.token is null or x.due_at <= v_now)
          order by x.due_at
          limit 100) c
     where d.namespace = any (p_namespaces)
     union all
    select r.timeout_at, n.namespace, r.workflow, r.run_id, 'timeout', false
      from unnest(p_namespaces) n(namespace)
     cross join lateral (
         select x.timeout_at, x.workflow, x.run_id
           from core_private.workflow_runs x
          where x.namespace = n.namespace and x.timeout_at is not null and x.status = 'open'
          order by x.timeout_at
          limit 100) r;
end $$;
comment on function core_private.upcoming_runs(text[]) is 'What runs of these namespaces wait for until a time, the first hundred of each definition, and the first hundred of each namespace that are timed out. Whoever calls it has asked which namespaces the caller may read.';
