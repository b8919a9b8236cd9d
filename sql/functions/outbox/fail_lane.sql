create or replace function core_private.fail_lane(p_field text, p_name text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'NX115', column = p_field,
        message = case when p_field = 'p_lane_id' then 'there is no lane of that id'
                       else format('there is no outbox queue %s',
                                   coalesce(quote_literal(left(p_name, 100)), 'NULL')) end,
        hint = 'Queues are listed in core.outbox_status, and made by core.outbox_register_queue.';
end $$;
comment on function core_private.fail_lane(text, text) is 'Raises NX115.';
