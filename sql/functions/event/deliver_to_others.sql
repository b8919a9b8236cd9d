-- Apart from emit, since most namespaces have the consumer default alone, and a loop over consumers costs as much as a queue.
create or replace function core_private.deliver_to_others(
    p_namespace text, p_event_type text, p_message jsonb, p_headers jsonb, p_due_at timestamptz, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue text;
begin
    for v_queue in
        select c.queue_name from core.consumers c
         where c.namespace = p_namespace and c.name <> 'default' and c.kind = 'unordered'
           and exists (select from unnest(c.patterns) p where core_private.matches(p, p_event_type))
    loop
        if p_due_at is not null then
            insert into core.delayed (due_at, queue_name, event_type, message, headers) values (p_due_at, v_queue, p_event_type, p_message, p_headers);
        elsif to_regclass(core_private.queue_relation(v_queue)) is null then
            perform core_private.fail_lost_queue(v_queue);
        else
            execute format('insert into %s (vt, message, headers) values ($1, $2, $3)', core_private.queue_relation(v_queue)) using p_now, p_message, p_headers;
            perform core_private.wake(v_queue, p_now);
        end if;
    end loop;
end $$;
comment on function core_private.deliver_to_others(text, text, jsonb, jsonb, timestamptz, timestamptz) is 'Delivers an event to the named consumers whose patterns match. Raises NX110.';
