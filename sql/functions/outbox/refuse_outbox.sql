create or replace function core_private.refuse_outbox(p_consumer_id integer)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_name text;
begin
    select c.name
      into v_name
      from core.consumers c
     where c.consumer_id = p_consumer_id and c.kind = 'outbox';
    if found then
        raise exception using errcode = 'NX102', column = 'p_consumer',
            message = format('%s is an outbox queue, and no consumer of events', quote_literal(v_name)),
            hint = 'It can be paused and resumed as a consumer; core.outbox_drop_queue drops it.';
    end if;
end $$;
comment on function core_private.refuse_outbox(integer) is 'Raises NX102 for an outbox queue, which has no events.';
