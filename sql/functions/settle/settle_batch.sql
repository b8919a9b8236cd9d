-- All or nothing: a message that somebody else got hold of means that the effects of the batch may not commit. Rows
-- are locked in the order of the messages, as by all who touch several, or they deadlock: the ids of acks are sorted
-- and met one by one, which is what the settings are for, and where failures come with them all are locked before.
create or replace function core_node.settle_batch(
    p_queue text, p_node text, p_marker bigint, p_ack_ids bigint[], p_ack_cts integer[], p_ack_ats timestamptz[],
    p_ids bigint[] = '{}', p_cts integer[] = '{}', p_ats timestamptz[] = '{}',
    p_actions text[] = '{}', p_afters interval[] = '{}',
    p_policies jsonb[] = '{}', p_reasons text[] = '{}', p_errors text[] = '{}')
returns table (outcome text, msg_id bigint, due_at timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
declare
    v_owner record;
    v_n     integer := coalesce(cardinality(p_ids), 0);
    v_gone  bigint;
    v_lost  bigint;
begin
    select * into v_owner from core_private.queue_owner(p_queue, 'consume');
    if cardinality(p_ack_ids) is distinct from cardinality(p_ack_cts)
       or cardinality(p_ack_ids) is distinct from cardinality(p_ack_ats)
       or v_n <> any (array[
              coalesce(cardinality(p_cts), 0), coalesce(cardinality(p_ats), 0),
              coalesce(cardinality(p_actions), 0), coalesce(cardinality(p_afters), 0),
              coalesce(cardinality(p_policies), 0),
              coalesce(cardinality(p_reasons), 0), coalesce(cardinality(p_errors), 0)]) then
        raise exception using errcode = 'NX006', column = 'p_ids',
            message = 'the arrays of settle_batch differ in length',
            hint = 'p_ack_ids, p_ack_cts and p_ack_ats are parallel, and p_ids with all that follow it.';
    end if;
    if cardinality(p_ack_ids) > 0 and v_n > 0 and p_marker is null then
        execute format($q$
            select count(*)
              from (select from %s q where q.msg_id = any ($1) order by q.msg_id for update) l
            $q$, core_private.queue_relation(p_queue))
          using p_ack_ids || p_ids;
    end if;
    if cardinality(p_ack_ids) > 0 then
        -- An express batch has its rows locked, and no read of its own.
        execute format(case when p_marker is null then $q$
            with gone as (
                delete from %s q
                 using (select x.* from unnest($1, $2, $3) x(id, ct, at) order by x.id) u
                 where q.msg_id = u.id and q.read_ct = u.ct and q.last_read_at = u.at
                returning q.msg_id)
            select count(*) from gone g
            $q$ else $q$
            with gone as (
                delete from %s q
                 using unnest($1, $2) u(id, ct)
                 where q.msg_id = u.id and q.read_ct = u.ct
                returning q.msg_id)
            select count(*) from gone g
            $q$ end, core_private.queue_relation(p_queue))
           into v_gone
          using p_ack_ids, p_ack_cts, p_ack_ats;
        if v_gone < cardinality(p_ack_ids) then
            v_lost := cardinality(p_ack_ids) - v_gone;
        end if;
    end if;
    if v_n > 0 then
        for outcome, msg_id, due_at in
            select *
              from core_private.settle_failed(
                       p_queue, p_node, v_owner.namespace, v_owner.consumer,
                       v_owner.namespace_retry || v_owner.consumer_retry,
                       p_ids, p_cts, p_ats, p_actions, p_afters, p_policies, p_reasons, p_errors,
                       p_marker is not null)
        loop
            if outcome in ('lost', 'gone') then
                v_lost := coalesce(v_lost, 0) + 1;
            end if;
            return next;
        end loop;
    end if;
    if v_lost > 0 then
        raise exception using errcode = 'NX301', column = 'p_ack_cts',
            message = format('%s messages of a batch of %s are lost', v_lost, p_queue),
            detail = 'Somebody else took them, or they are already settled.',
            hint = 'Roll back: what was done for this batch is done again.';
    end if;
    if p_marker is not null then
        delete from core_private.express_batches b where b.queue_name = p_queue and b.marker_id = p_marker;
    end if;
end $$;
comment on function core_node.settle_batch(text, text, bigint, bigint[], integer[], timestamptz[], bigint[], integer[], timestamptz[], text[], interval[], jsonb[], text[], text[]) is 'For nodes: settles a batch inside the transaction of its handlers, as core_node.settle does. p_marker is that of an express batch, whose failures count as read only now, or NULL under leases. Returns what was not simply acked: retried, buried, released. Raises NX005, NX006, NX007, NX103, NX110, NX301, NX401, NX402.';
