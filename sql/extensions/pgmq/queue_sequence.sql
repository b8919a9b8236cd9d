-- By the rule Postgres names sequences of identity columns by; create_queue sees to it that it holds.
-- Not pinned, so that it is inlined.
create or replace function core_private.queue_sequence(p_queue text)
returns text
language sql stable parallel safe
as $$
    select 'pgmq.' operator(pg_catalog.||) pg_catalog.quote_ident(
               'q_' operator(pg_catalog.||) p_queue operator(pg_catalog.||) '_msg_id_seq')
$$;
comment on function core_private.queue_sequence(text) is 'The quoted, qualified sequence of a queue''s msg_id.';
