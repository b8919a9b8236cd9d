create or replace function core_private.fail_uncommitted_request()
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'NX219', column = 'p_inbox_id',
        message = 'the request was made in this transaction, which no node sees before it is committed',
        hint = 'Commit first, and ask for the reply then.';
end $$;
comment on function core_private.fail_uncommitted_request() is 'Raises NX219.';
