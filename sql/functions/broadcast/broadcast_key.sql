create or replace function core_private.broadcast_key(p_namespace text)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select 'broadcasts:' || p_namespace
$$;
comment on function core_private.broadcast_key(text) is 'By what nodes are woken for broadcasts, and what stands for a queue in the records of their failures. No queue is named so.';
