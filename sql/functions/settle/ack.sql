create or replace function core.ack(
    p_namespace text, p_consumer text, p_msg_id bigint, p_read_ct integer, p_last_read_at timestamptz)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue  text;
    v_routed boolean;
    v_gone   bigint;
begin
    select c.queue_name, c.routed
      into v_queue, v_routed
      from core.consumers c
     where c.namespace = p_namespace and c.name = p_consumer;
    if v_queue is null then
        perform core_private.require_duty(p_namespace, 'consume');
        raise exception using errcode = 'NX102', column = 'p_consumer',
            message = format('namespace %s has no consumer %s',
                             quote_literal(p_namespace), coalesce(quote_literal(left(p_consumer, 100)), 'NULL')),
            hint = 'Consumers are listed in core.consumers.';
    end if;
    perform core_private.queue_owner(v_queue, 'consume');
    if v_routed then
        perform core_private.resolve_handled(
            v_queue, p_namespace, array[p_msg_id], array[p_read_ct], array[p_last_read_at]);
    end if;
    execute format($q$
        delete from %s q
         where q.msg_id = $1 and q.read_ct = $2 and q.last_read_at = $3
        returning q.msg_id
        $q$, core_private.queue_relation(v_queue))
       into v_gone
      using p_msg_id, p_read_ct, p_last_read_at;
    if v_gone is null then
        raise exception using errcode = 'NX301', column = 'p_read_ct',
            message = format('the lease of message %s of %s is lost', p_msg_id, v_queue),
            detail = 'Another node took the message after the lease had ended, or it is already settled.',
            hint = 'Roll back: what was done for this delivery is done again elsewhere.';
    end if;
end $$;
comment on function core.ack(text, text, bigint, integer, timestamptz) is 'Settles a leased delivery as ok in the caller''s transaction. Raises NX101, NX102, NX110, NX301, NX401, NX402.';
