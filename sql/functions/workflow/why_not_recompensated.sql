create or replace function core_private.why_not_recompensated(p_namespace text, p_consumer text, p_ids bigint[])
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select case when not exists (
        select
          from core.dead_letters l
          join core_private.workflow_runs r
            on r.run_id = core_private.uuid_if_valid(l.source_ref ->> 'runId') and r.namespace = l.namespace
         where l.dead_letter_id = any (p_ids) and r.status = 'compensation_failed')
        then 'its source is gone' end
$$;
comment on function core_private.why_not_recompensated(text, text, bigint[]) is 'Why the compensation of none of these runs can go on; NULL where at least one can.';
