create or replace function core_private.why_unsettled(p_queue text, p_ids bigint[])
returns table (outcome text, msg_id bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return query execute format('select case when q.msg_id is null then ''gone'' else ''lost'' end, u.id from unnest($1) u(id) left join %s q on q.msg_id = u.id',
        core_private.queue_relation(p_queue)) using p_ids;
end $$;
comment on function core_private.why_unsettled(text, bigint[]) is 'lost: another holds the message; gone: it is no longer there.';
