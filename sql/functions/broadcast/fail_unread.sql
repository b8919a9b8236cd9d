create or replace function core_private.fail_unread(p_node_id text)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'NX302', column = 'p_incarnation',
        message = format('node %s has no cursor over broadcasts',
                         coalesce(quote_literal(left(p_node_id, 200)), 'NULL')),
        hint = 'Register anew, with the patterns of the broadcasts in p_info.';
end $$;
comment on function core_private.fail_unread(text) is 'Raises NX302 for a node without a cursor, or a life of it that is over.';
