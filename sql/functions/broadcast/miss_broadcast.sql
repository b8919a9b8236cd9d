create or replace function core_private.miss_broadcast(p_node_id text, p_now timestamptz)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
    update core_private.broadcast_cursors c
       set missed = c.missed + 1, missed_at = p_now
     where c.node_id = p_node_id
$$;
comment on function core_private.miss_broadcast(text, timestamptz) is 'Counts what a node had in hand, had not handled, and cannot be given again, since it was removed meanwhile.';
