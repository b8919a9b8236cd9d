create or replace function core_private.fail_foreign_lane(p_queue text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'NX509', column = 'p_lane_id',
        message = format('the lanes of outbox queue %s are those of another server', quote_literal(p_queue)),
        detail = 'The database was restored from a dump, and transaction ids of another server say nothing here.',
        hint = 'Before processors run: select core.lanes_rebase();';
end $$;
comment on function core_private.fail_foreign_lane(text) is 'Raises NX509.';
