-- After each statement that adds to the ledger, so that whoever gives something up cannot forget it. The delivery is in
-- no log: the ledger has what it is about.
create or replace function core_private.fire_dead_letters()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_queue text;
    v_sent  bigint;
begin
    for v_queue in
        select distinct c.queue_name
          from (select distinct a.namespace from added a) n
          join core.triggers t on t.namespace = n.namespace and t.kind = 'dead_letter' and t.enabled
          join core.consumers c on c.namespace = t.namespace and c.name = t.consumer
         order by c.queue_name
    loop
        execute format($q$
            with known as materialized (
                select a.*, core_private.target_of(a.envelope) as named, a.envelope ->> 'trigger' as fired_by,
                       core_private.uuid_if_valid(a.envelope ->> 'triggerId') as fired_by_id,
                       case when a.envelope ->> 'depth' ~ '^[0-9]{1,6}$'
                            then (a.envelope ->> 'depth')::integer else 0 end + 1 as depth
                  from added a),
            hits as materialized (
                select k.*, t.trigger_id as by_id, t.name as by_name, t.target as handler,
                       core_private.trigger_policy(t.trigger_id) as policy
                  from core.consumers c
                  join core.triggers t on t.namespace = c.namespace and t.consumer = c.name
                  join core.dead_letter_trigger_details d on d.trigger_id = t.trigger_id
                  join known k on k.namespace = t.namespace
                   and (d.source = k.source_kind or d.source is null)
                   and (d.trigger = k.fired_by or d.trigger is null)
                   and (d.target = k.named or d.target is null)
                 where c.queue_name = $1 and t.kind = 'dead_letter' and t.enabled),
            dropped as (
                insert into core.trigger_drops (namespace, event_id, event_type, why, deliveries, dropped_at)
                select h.namespace, h.event_id, 'nexus.dead_letter', 'depth', count(*), $2
                  from hits h
                 where h.depth > core_private.max_trigger_depth(h.namespace)
                 group by h.namespace, h.event_id, h.dead_letter_id),
            made as materialized (
                select h.handler, jsonb_build_object('nexus-retry', h.policy) as headers,
                       core_private.envelope(
                           h.namespace, h.handler,
                           jsonb_build_object(
                               'dead_letter_id', h.dead_letter_id, 'source', h.source_kind, 'consumer', h.consumer,
                               'reason', h.reason, 'attempts', h.attempts, 'last_error', h.last_error,
                               'trigger_id', h.fired_by_id, 'target', h.named,
                               'first_attempt_at', h.first_attempt_at, 'last_attempt_at', h.last_attempt_at,
                               'original', case
                                   when h.body is not null then jsonb_build_object(
                                       'body', encode(h.body, 'base64'), 'body_type', h.body_type)
                                   when h.envelope is null then h.payload
                                   else h.envelope || jsonb_build_object('payload', h.payload) end),
                           $2, nextval('core.event_id_seq'), gen_random_uuid(), null, null,
                           h.envelope ->> 'correlationId', h.event_uid, false, null, null, h.depth)
                       || jsonb_build_object(
                           'sourceType', 'nexus.dead_letter', 'triggerId', h.by_id, 'trigger', h.by_name,
                           'deadLetterId', h.dead_letter_id) as message
                  from (select x.* from hits x
                         where x.depth <= core_private.max_trigger_depth(x.namespace)
                         order by x.dead_letter_id, x.by_id) h)
            %s
            $q$, case
            when to_regclass(core_private.queue_relation(v_queue)) is null then $q$
            insert into core.delayed (due_at, queue_name, event_type, message, headers)
            select $2, $1, m.handler, m.message, m.headers from made m$q$
            else format($q$
            insert into %s (msg_id, read_ct, enqueued_at, vt, message, headers) overriding system value
            select nextval(%L::regclass), 0, $2, $2, m.message, m.headers from made m$q$,
                core_private.queue_relation(v_queue), core_private.queue_sequence(v_queue)) end)
        using v_queue, v_now;
        get diagnostics v_sent = row_count;
        if v_sent > 0 then
            perform core_private.wake(v_queue, v_now);
        end if;
    end loop;
    return null;
end $$;
comment on function core_private.fire_dead_letters() is 'Makes the deliveries of triggers of kind dead_letter for what was added to the ledger. A queue whose table is missing gets them when it is there.';

create or replace trigger fire_dead_letters after insert on core.dead_letters
    referencing new table as added for each statement
    execute function core_private.fire_dead_letters();
