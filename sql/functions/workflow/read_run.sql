-- Row by row, since no value can hold all that a journal can.
create or replace function core_node.read_run(p_run uuid, p_path text, p_token uuid)
returns table (kind text, key text, value text)
language sql stable security definer rows 100
set search_path = pg_catalog, pg_temp
as $$
    select x.kind, x.key, x.value
      from core_private.workflow_cursors c
     cross join lateral (
         select 'i' as kind, '' as key, r.input::text as value
           from core_private.workflow_runs r
          where r.run_id = c.run_id
         union all
         select j.status::text, j.key, case j.status when 'f' then j.error else j.result end::text
           from core_private.workflow_journal j
          where j.run_id = c.run_id) x
     where c.run_id = p_run and c.path = p_path and c.token = p_token
$$;
comment on function core_node.read_run(uuid, text, uuid) is 'For nodes: the input (kind i) and the journal of a run that they hold, a row for each: c are results, p notes about what is under way, f errors of what was given up. No row: the lease is lost.';
