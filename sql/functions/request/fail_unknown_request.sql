create or replace function core_private.fail_unknown_request(p_inbox_id uuid)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'NX113', column = 'p_inbox_id',
        message = format('there is no request %s', coalesce(p_inbox_id::text, 'NULL')),
        hint = 'Its reply was taken, it has expired or was cancelled, or the server crashed meanwhile. '
            || 'Ask again if that does no harm.';
end $$;
comment on function core_private.fail_unknown_request(uuid) is 'Raises NX113.';
