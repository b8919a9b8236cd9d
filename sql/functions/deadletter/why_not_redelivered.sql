-- One answer serves all deliveries to a consumer, so the ids are not looked at.
create or replace function core_private.why_not_redelivered(p_namespace text, p_consumer text, p_ids bigint[])
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue text;
begin
    select c.queue_name
      into v_queue
      from core.consumers c
     where c.namespace = p_namespace and c.name = p_consumer and c.kind = 'unordered';
    if not found then
        return format('consumer %s is gone', quote_nullable(p_consumer));
    elsif to_regclass(core_private.queue_relation(v_queue)) is null then
        return format('the table of queue %s is missing', v_queue);
    end if;
    return null;
end $$;
comment on function core_private.why_not_redelivered(text, text, bigint[]) is 'Why dead deliveries to this consumer cannot be delivered again; NULL where nothing is in the way.';
