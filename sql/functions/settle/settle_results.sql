-- Acks are one fenced DELETE; the rest is one fenced UPDATE and one burial, with a row of history for each failed
-- attempt. Rows are locked in the order of the messages, as by all who touch several, or they deadlock: the ids of acks
-- are sorted and met one by one, which is what the settings are for, and where failures come with them all are locked
-- before. An express batch has its rows locked, and no read of its own.
create or replace function core_private.settle_results(
    p_queue text, p_node text, p_ack_ids bigint[], p_ack_cts integer[], p_ack_ats timestamptz[],
    p_failed jsonb, p_express boolean)
returns table (outcome text, msg_id bigint, due_at timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
declare
    v_relation text := core_private.queue_relation(p_queue);
    v_owner    record;
    v_failed   record;
    v_any      boolean := p_failed <> '[]';
    v_done     bigint[];
begin
    select * into v_owner from core_private.queue_owner(p_queue, 'consume');
    if cardinality(p_ack_ids) is distinct from cardinality(p_ack_cts)
       or cardinality(p_ack_ids) is distinct from cardinality(p_ack_ats) then
        raise exception using errcode = 'NX006',
            column = case when cardinality(p_ack_ids) is distinct from cardinality(p_ack_cts)
                          then 'p_ack_cts' else 'p_ack_ats' end,
            message = 'p_ack_cts and p_ack_ats are not as long as p_ack_ids',
            hint = 'Together they are the fences of what is acknowledged.';
    end if;
    if v_any then
        select * into v_failed from core_private.parse_verdicts(p_failed);
    end if;

    if cardinality(p_ack_ids) > 0 then
        if v_any and not p_express then
            execute format($q$
                select count(*)
                  from (select from %s q where q.msg_id = any ($1) order by q.msg_id for update) l
                $q$, v_relation)
              using p_ack_ids || v_failed.ids;
        end if;
        if v_owner.routed then
            perform core_private.resolve_handled(
                p_queue, v_owner.namespace, p_ack_ids, p_ack_cts, case when not p_express then p_ack_ats end);
        end if;
        execute format($q$
            with gone as (
                delete from %s q
                 using (select x.* from unnest($1, $2, $3) x(id, ct, at) order by x.id) u
                 where q.msg_id = u.id and q.read_ct = u.ct%s
                returning q.msg_id)
            select array_agg(g.msg_id) from gone g
            $q$, v_relation, case when not p_express then ' and q.last_read_at = u.at' end)
           into v_done
          using p_ack_ids, p_ack_cts, p_ack_ats;
        if coalesce(cardinality(v_done), 0) < cardinality(p_ack_ids) then
            return query
                select s.outcome, s.msg_id, s.due_at
                  from core_private.why_unsettled(
                           p_queue, array(select a from unnest(p_ack_ids) a where a <> all (coalesce(v_done, '{}')))) s;
        end if;
    end if;
    if v_any then
        return query
            select *
              from core_private.settle_failed(
                       p_queue, p_node, v_owner.namespace, v_owner.consumer,
                       v_owner.namespace_retry || v_owner.consumer_retry,
                       v_failed.ids, v_failed.cts, v_failed.ats, v_failed.actions, v_failed.afters,
                       v_failed.policies, v_failed.reasons, v_failed.errors, p_express);
    end if;
end $$;
comment on function core_private.settle_results(text, text, bigint[], integer[], timestamptz[], jsonb, boolean) is 'What core_node.settle and core_node.settle_batch do. Raises NX005, NX006, NX007, NX103, NX110, NX401, NX402.';
