create or replace function core_private.why_not_enqueued_again(p_namespace text, p_consumer text, p_ids bigint[])
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select case when not exists (
               select
                 from core.consumers c
                where c.namespace = p_namespace and c.name = p_consumer and c.kind in ('outbox', 'ordered'))
           then format('outbox queue %s is gone', quote_nullable(p_consumer)) end
$$;
comment on function core_private.why_not_enqueued_again(text, text, bigint[]) is 'Why dead messages of this queue or consumer cannot be enqueued again; NULL where nothing is in the way.';
