-- The only place that knows where a queue lives. Not pinned, so that it is inlined; it names nothing but a literal.
create or replace function core_private.queue_relation(p_queue text)
returns text
language sql immutable parallel safe
as $$
    select pg_catalog.format('pgmq.%I', 'q_' || p_queue)
$$;
comment on function core_private.queue_relation(text) is 'The quoted, qualified table of a queue.';
