-- All of a call share a transaction with their settlement, each in a subtransaction that its error undoes. Rows are
-- locked before the first of them runs, so that no lease ends under the others: claims pass over what is locked.
--
-- While a handler runs no cursor is open here, whose rows it could fetch, and after it nothing is looked up before the
-- path is pinned, which core_private.call_handler does. A budget is a length of time, so it goes by the server's clock.
create or replace function core_private.run_handler(
    p_consumer_id integer, p_runner text, p_ids bigint[], p_cts integer[], p_ats timestamptz[], p_for interval,
    p_owner oid,
    out handled integer, out retried integer, out buried integer, out released integer, out lost integer)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_end      timestamptz := clock_timestamp() + p_for;
    v_now      timestamptz := core_private.now();
    v_ordered  boolean;
    v_attempts integer;
    v_handler  core_private.sql_handlers;
    v_consumer core.consumers;
    v_function oid;
    v_relation text;
    v_held     bigint[];
    v_message  jsonb;
    v_headers  jsonb;
    v_event    jsonb;
    v_acks     integer[] := '{}';
    v_failed   jsonb := '[]';
    v_verdict  jsonb;
    v_inbox    uuid;
    v_reply    jsonb;
    v_state    text;
    v_said     text;
    v_detail   text;
    v_hint     text;
    v_context  text;
begin
    select * into v_consumer from core.consumers c where c.consumer_id = p_consumer_id;
    v_ordered := v_consumer.kind = 'ordered';
    v_relation := core_private.queue_relation(v_consumer.queue_name);
    handled := 0; retried := 0; buried := 0; released := 0;
    lost := coalesce(cardinality(p_ids), 0);
    if lost = 0 or core_private.sql_owner(p_consumer_id, p_owner) is null then
        return;
    end if;
    if v_ordered then
        v_held := core_private.hold_heads(p_ids, p_cts, p_ats, v_now);
    else
        v_held := core_private.hold_leases(v_relation, p_ids, p_cts, p_ats);
    end if;
    for i in 1 .. cardinality(p_ids) loop
        continue when p_ids[i] <> all (v_held);
        lost := lost - 1;
        v_verdict := null;
        if handled + jsonb_array_length(v_failed) > 0 and clock_timestamp() >= v_end then
            v_verdict := '{"action": "release", "after": "0", "reason": "no time left"}';
        else
            if v_ordered then
                select convert_from(m.body, 'UTF8')::jsonb, m.headers, l.attempts
                  into v_message, v_headers, v_attempts
                  from core_private.lane_now(p_cts[i]) l
                  join core_private.lane_messages m on m.lane_id = l.lane_id and m.id = p_ids[i];
            else
                execute format('select q.message, q.headers from %s q where q.msg_id = $1', v_relation)
                   into v_message, v_headers
                  using p_ids[i];
                v_attempts := p_cts[i] - 1;
            end if;
            v_handler := core_private.sql_handler(p_consumer_id, p_owner, v_message ->> 'eventType');
            v_function := core_private.handler_oid(v_handler.function);
            -- Deliveries of one that was dropped since the claim wait.
            if v_handler.consumer_id is null then
                v_verdict := '{"action": "release", "after": "1 second", "reason": "its handler is gone"}';
            end if;
        end if;
        -- A request is begun, run and answered in this transaction: if that ends, it waits as before.
        v_inbox := case when v_consumer.gives_up = 'answer' and v_verdict is null
                        then core_private.uuid_if_valid(v_message ->> 'replyTo') end;
        if v_inbox is not null and (select b.state from core_node.begin_request(v_inbox) b) <> 'begun' then
            handled := handled + 1;
            v_acks := v_acks || i;
            continue;
        end if;
        if v_verdict is null then
            v_event := core_private.handler_event(
                v_consumer.namespace, v_consumer.name, p_ids[i], v_attempts + 1, v_message, v_headers);
            perform set_config('nexus.cause', core_private.cause_of(v_event), true);
            begin
                v_reply := core_private.call_handler(
                    v_function, v_handler.owner, v_event, v_inbox is not null);
            exception
                when others or assert_failure or query_canceled then
                    get stacked diagnostics
                        v_state = returned_sqlstate, v_said = message_text, v_detail = pg_exception_detail,
                        v_hint = pg_exception_hint, v_context = pg_exception_context;
                    -- Somebody's cancel is no fault of the event's: it ends the call, and undoes all of it.
                    if v_state = '57014' and not core_private.timed_out() then
                        raise;
                    end if;
                    v_verdict := core_private.handler_verdict(v_state, v_said, v_detail, v_hint, v_context);
                    if v_state = '57014' then
                        v_end := '-infinity';
                    end if;
            end;
        end if;
        perform set_config('nexus.cause', '', true);
        if v_inbox is not null then
            perform core_private.answer_handled(
                v_consumer.queue_name, p_ids[i], p_cts[i], p_ats[i], v_verdict, v_reply);
            handled := handled + 1;
        elsif v_verdict is null then
            handled := handled + 1;
            v_acks := v_acks || i;
        else
            v_failed := v_failed
                || (v_verdict || jsonb_build_object('id', p_ids[i], 'ct', p_cts[i], 'at', p_ats[i]));
        end if;
    end loop;
    if v_ordered then
        v_failed := v_failed || coalesce((
            select jsonb_agg(jsonb_build_object('id', p_ids[a], 'ct', p_cts[a], 'action', 'ack'))
              from unnest(v_acks) a), '[]');
        select count(*) filter (where s.outcome in ('retried', 'halted')),
               count(*) filter (where s.outcome = 'buried'), count(*) filter (where s.outcome = 'released')
          into retried, buried, released
          from core_private.settle_heads(p_runner, core_private.head_results(v_failed), true, v_now) s;
        return;
    end if;
    select count(*) filter (where s.outcome = 'retried'), count(*) filter (where s.outcome = 'buried'),
           count(*) filter (where s.outcome = 'released')
      into retried, buried, released
      from core_node.settle_batch(
               v_consumer.queue_name, p_runner, null,
               array(select p_ids[a] from unnest(v_acks) a), array(select p_cts[a] from unnest(v_acks) a),
               array(select p_ats[a] from unnest(v_acks) a), v_failed) s;
end $$;
comment on function core_private.run_handler(integer, text, bigint[], integer[], timestamptz[], interval, oid) is 'Calls the SQL handlers that an owner has for a consumer for leased deliveries, for about p_for, and settles all of them. Raises as core_node.settle_batch; 57014 if it is cancelled.';
