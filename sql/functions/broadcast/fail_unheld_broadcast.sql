create or replace function core_private.fail_unheld_broadcast(p_node_id text, p_turn bigint)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'NX301', column = 'p_turn',
        message = format('node %s no longer has the broadcast of turn %s in hand',
                         coalesce(quote_literal(left(p_node_id, 200)), 'NULL'), coalesce(p_turn::text, 'NULL')),
        detail = 'Another process reads as this node, or the broadcast is already settled.',
        hint = 'Roll back: what was done for it is done again.';
end $$;
comment on function core_private.fail_unheld_broadcast(text, bigint) is 'Raises NX301 for a broadcast that is somebody else''s, or nobody''s.';
