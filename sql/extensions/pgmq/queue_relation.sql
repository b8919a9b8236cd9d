-- The only place that knows where a queue lives. Not pinned, so that it is inlined; it names nothing but a literal. STABLE like format(): a
-- body less stable than its function is not inlined, and costs 60,000 instructions a call.
create or replace function core_private.queue_relation(p_queue text)
returns text
language sql stable parallel safe
as $$
    select pg_catalog.format('pgmq.%I', 'q_' || p_queue)
$$;
comment on function core_private.queue_relation(text) is 'The quoted, qualified table of a queue.';
