create or replace function core_private.why_not_fired_again(p_namespace text, p_consumer text, p_ids bigint[])
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue text;
begin
    select min(c.queue_name)
      into v_queue
      from core.dead_letters l
      join core.triggers t
        on t.trigger_id = core_private.uuid_if_valid(l.source_ref ->> 'triggerId') and t.namespace = l.namespace
       and t.mode = 'async'
      join core.consumers c on c.namespace = t.namespace and c.name = t.consumer
     where l.dead_letter_id = any (p_ids);
    if v_queue is null then
        return 'its trigger is gone, or makes no deliveries any more';
    elsif to_regclass(core_private.queue_relation(v_queue)) is null then
        return format('the table of queue %s is missing', v_queue);
    end if;
    return null;
end $$;
comment on function core_private.why_not_fired_again(text, text, bigint[]) is 'Why none of these dead deliveries of triggers can be delivered again; NULL where nothing is in the way of one of them.';
