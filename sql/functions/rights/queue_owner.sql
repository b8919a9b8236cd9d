-- Names of queues come from callers and go into dynamic SQL: only registered ones pass.
create or replace function core_private.queue_owner(
    p_queue text, p_duty text, p_there boolean = true,
    out namespace text, out consumer text, out consumer_id integer, out state text,
    out consumer_retry jsonb, out namespace_retry jsonb, out dlq text, out limited boolean,
    out levels smallint, out routed boolean)
returns record
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_restricted boolean;
begin
    select q.namespace, c.name, c.consumer_id, c.state,
           c.retry, n.retry, n.restricted, core.dead_letter_queue_name_for_namespace(q.namespace),
           c.max_in_flight is not null or c.rate is not null, c.levels, coalesce(c.routed, false)
      into namespace, consumer, consumer_id, state,
           consumer_retry, namespace_retry, v_restricted, dlq,
           limited, levels, routed
      from core.queues q
      join core.namespaces n on n.namespace = q.namespace
      left join core.consumers c on c.consumer_id = q.consumer_id
     where q.queue_name = p_queue and q.dropped_at is null;
    if not found then
        raise exception using errcode = 'NX103', column = 'p_queue',
            message = format('there is no queue %s', coalesce(quote_literal(left(p_queue, 100)), 'NULL')),
            hint = 'Queues are listed in core.queues.';
    end if;
    if not core_private.has_duty(namespace, p_duty, v_restricted) then
        perform core_private.require_duty(namespace, p_duty);
    end if;
    if p_there and to_regclass(core_private.queue_relation(p_queue)) is null then
        perform core_private.fail_lost_queue(p_queue);
    end if;
end $$;
comment on function core_private.queue_owner(text, text, boolean) is 'Whose queue it is, with its policies, and whether it has max_in_flight or rate; with p_there it has its table. Raises NX103, NX110, NX401, NX402.';
