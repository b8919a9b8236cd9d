-- Bounded, and by indexes: a namespace may have any number of runs. A namespace without workflows costs one look.
create or replace function core_private.workflow_counts(p_namespace text)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
    v_now  timestamptz := core_private.now();
    v_defs bigint[] := array(
        select d.def_id from core_private.workflow_definitions d where d.namespace = p_namespace);
    v_live bigint[];
begin
    if v_defs = '{}' then
        return null;
    end if;
    v_live := array(select distinct l.def_id from core_private.live_definitions(p_namespace, v_now) l);
    return jsonb_build_object(
        'runs', (
            select jsonb_object_agg(s.status, n.runs)
              from unnest('{open,compensating,completed,failed,compensation_failed,cancelled,timed_out}'::text[])
                   s(status)
             cross join lateral (
                 select count(*) as runs
                   from (select
                           from core_private.workflow_runs r
                          where r.namespace = p_namespace and r.status = s.status
                          limit 10001) x) n),
        'due_lag_seconds', (
            select coalesce(extract(epoch from greatest(v_now - min(n.due_at), '0')), 0)
              from unnest(v_live) d(def_id)
             cross join lateral (
                 select c.due_at
                   from core_private.workflow_cursors c
                  where c.def_id = d.def_id and c.due_at <= v_now
                  order by c.due_at
                  limit 1) n),
        'stranded', (
            select count(*)
              from (select
                      from unnest(v_defs) d(def_id)
                      join core_private.workflow_runs r on r.def_id = d.def_id and r.finished_at is null
                     where d.def_id <> all (v_live)
                     limit 10001) x),
        'parked', (
            select count(*)
              from (select
                      from unnest(v_defs) d(def_id)
                      join core_private.workflow_cursors c on c.def_id = d.def_id and c.state = 'P'
                     limit 10001) x));
end $$;
comment on function core_private.workflow_counts(text) is 'The runs of a namespace by status, for how many seconds the oldest one has been due that a live node could take, how many go by a definition that no live node has, and how many runs and branches are parked, since processes died in them; each counted up to 10,001. NULL: there is no workflow.';
