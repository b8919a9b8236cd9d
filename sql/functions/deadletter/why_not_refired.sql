create or replace function core_private.why_not_refired(p_namespace text, p_consumer text, p_ids bigint[])
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select case when not exists (
        select
          from core.dead_letters l
          join core.scheduled_events e
            on e.schedule_id = (l.source_ref ->> 'scheduleId')::uuid and e.namespace = l.namespace
         where l.dead_letter_id = any (p_ids) and e.status = 'failed')
        then 'its source is gone' end
$$;
comment on function core_private.why_not_refired(text, text, bigint[]) is 'Why none of these dead scheduled events can be due again; NULL where at least one of them is still there and failed.';
