-- Starting a run is a row or two, so it takes no handler: claim, start and settlement share a transaction, whose death
-- is no attempt. Each start is undone by its own error alone. What names a workflow without a definition is left to be
-- parked.
create or replace function core_node.start_runs(
    p_namespace text, p_node text, p_limit integer = 50, p_wait interval = null,
    out started integer, out failed integer, out queues text[])
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_keys     text[];
    v_consumer core.consumers;
    v_claim    record;
    v_message  jsonb;
    v_headers  jsonb;
    v_inbox    uuid;
    v_run      uuid;
    v_verdict  jsonb;
    v_acks     integer[];
    v_failed   jsonb;
begin
    perform core_private.require_duty(p_namespace, 'consume');
    perform core_private.check_number(p_limit, 'p_limit', 1, 1000);
    perform core_private.require_read_committed('core_node.start_runs');
    started := 0; failed := 0;
    v_keys := core_private.workflow_targets(p_namespace);
    queues := array(
        select c.queue_name
          from core.consumers c
         where c.namespace = p_namespace and c.routed and c.state = 'active' and v_keys is not null
         order by c.queue_name);
    if p_wait is not null then
        perform core_node.wait_for_wake(queues, p_wait);
        -- From now on they are searched for what names a workflow that there is not.
        insert into core_private.parking (queue_name, seen_at)
        select q, core_private.now()
          from unnest(queues) q
         where not exists (select from core_private.parking k where k.queue_name = q)
        on conflict do nothing;
    end if;
    for v_consumer in
        select c.* from core.consumers c where c.queue_name = any (queues) order by c.queue_name
    loop
        continue when v_keys = '{}' or not core_private.is_due(v_consumer.queue_name, v_keys);
        perform core_private.keep_namespace(p_namespace);
        select * into v_claim
          from core_private.claim_handler(
                   v_consumer.consumer_id, null, v_keys, p_limit - started - failed, interval '1 minute');
        failed := failed + v_claim.buried;
        v_acks := '{}';
        v_failed := '[]';
        for i in 1 .. coalesce(cardinality(v_claim.ids), 0) loop
            execute format('select q.message, q.headers from %s q where q.msg_id = $1',
                           core_private.queue_relation(v_consumer.queue_name))
               into v_message, v_headers
              using v_claim.ids[i];
            v_inbox := case when v_consumer.gives_up = 'answer'
                            then core_private.uuid_if_valid(v_message ->> 'replyTo') end;
            if v_inbox is not null and (select b.state from core_node.begin_request(v_inbox) b) <> 'begun' then
                v_acks := v_acks || i;
                continue;
            end if;
            v_verdict := null;
            begin
                v_run := core_private.start_routed(p_namespace, v_message, v_headers);
            exception when others then
                if core_private.is_transient(sqlstate) then
                    raise;
                end if;
                v_verdict := jsonb_build_object(
                    'action', case when sqlstate ^@ 'NX' then 'reject' else 'retry' end,
                    'reason', case when sqlstate ^@ 'NX' then 'refused' else 'error' end,
                    'error', format('%s: %s', sqlstate, sqlerrm));
            end;
            started := started + (v_verdict is null)::integer;
            failed := failed + (v_verdict is not null)::integer;
            if v_inbox is not null then
                perform core_private.answer_handled(
                    v_consumer.queue_name, v_claim.ids[i], v_claim.cts[i], v_claim.ats[i], v_verdict,
                    jsonb_build_object('run_id', v_run));
            elsif v_verdict is null then
                v_acks := v_acks || i;
            else
                v_failed := v_failed || (v_verdict || jsonb_build_object(
                    'id', v_claim.ids[i], 'ct', v_claim.cts[i], 'at', v_claim.ats[i]));
            end if;
        end loop;
        perform core_node.settle_batch(
            v_consumer.queue_name, p_node, null,
            array(select v_claim.ids[a] from unnest(v_acks) a), array(select v_claim.cts[a] from unnest(v_acks) a),
            array(select v_claim.ats[a] from unnest(v_acks) a), v_failed);
        exit when started + failed >= p_limit;
    end loop;
end $$;
comment on function core_node.start_runs(text, text, integer, interval) is 'For nodes: starts up to p_limit runs of workflows that triggers and requests ask for, whichever node has the workflow, and acks what asked, in one transaction. started and failed count them; queues are those by which nodes are woken for more, none where no trigger and no request names a workflow. With p_wait it says first that somebody waits for these for so long. Raises 55000 unless the transaction is read committed, NX006, NX101, NX110, NX401, NX402.';
