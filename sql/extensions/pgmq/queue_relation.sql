-- The only place that knows where a queue lives. Not pinned, so that it is inlined; it names nothing but
-- a literal. NULL for NULL, unlike format(%I), so that its callers get to say which argument is missing.
create or replace function core_private.queue_relation(p_queue text)
returns text
language sql stable parallel safe
as $$
    select 'pgmq.' operator(pg_catalog.||) pg_catalog.quote_ident('q_' operator(pg_catalog.||) p_queue)
$$;
comment on function core_private.queue_relation(text) is 'The quoted, qualified table of a queue.';
