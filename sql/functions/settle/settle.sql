-- The whole outcome of a batch in one call. Acks are one fenced DELETE; the rest is one fenced UPDATE
-- and one burial, with a row of history for each failed attempt. Rows are locked in the order of the
-- messages, as by all who touch several, or they deadlock: the ids of acks are sorted and met one by
-- one, which is what the settings are for, and where failures come with them all are locked before.
create or replace function core_node.settle(
    p_queue text, p_node text, p_ack_ids bigint[], p_ack_cts integer[], p_ack_ats timestamptz[],
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
    v_owner    record;
    v_relation text := core_private.queue_relation(p_queue);
    v_n        integer := coalesce(cardinality(p_ids), 0);
    v_done     bigint[];
begin
    select * into v_owner from core_private.queue_owner(p_queue, 'consume');
    if cardinality(p_ack_ids) is distinct from cardinality(p_ack_cts)
       or cardinality(p_ack_ids) is distinct from cardinality(p_ack_ats)
       or v_n <> any (array[
              coalesce(cardinality(p_cts), 0), coalesce(cardinality(p_ats), 0),
              coalesce(cardinality(p_actions), 0), coalesce(cardinality(p_afters), 0),
              coalesce(cardinality(p_policies), 0),
              coalesce(cardinality(p_reasons), 0), coalesce(cardinality(p_errors), 0)]) then
        raise exception using errcode = 'NX006', column = 'p_ids', message = 'the arrays of settle differ in length',
            hint = 'p_ack_ids, p_ack_cts and p_ack_ats are parallel, and p_ids with all that follow it.';
    end if;

    if cardinality(p_ack_ids) > 0 and v_n > 0 then
        execute format($q$
            select count(*)
              from (select from %s q where q.msg_id = any ($1) order by q.msg_id for update) l
            $q$, v_relation)
          using p_ack_ids || p_ids;
    end if;
    if cardinality(p_ack_ids) > 0 then
        execute format($q$
            with gone as (
                delete from %s q
                 using (select x.* from unnest($1, $2, $3) x(id, ct, at) order by x.id) u
                 where q.msg_id = u.id and q.read_ct = u.ct and q.last_read_at = u.at
                returning q.msg_id)
            select array_agg(g.msg_id) from gone g
            $q$, v_relation)
           into v_done
          using p_ack_ids, p_ack_cts, p_ack_ats;
        if coalesce(cardinality(v_done), 0) < cardinality(p_ack_ids) then
            return query
                select s.outcome, s.msg_id, s.due_at
                  from core_private.why_unsettled(
                           p_queue, array(select a from unnest(p_ack_ids) a where a <> all (coalesce(v_done, '{}')))) s;
        end if;
    end if;
    if v_n > 0 then
        return query
            select *
              from core_private.settle_failed(
                       p_queue, p_node, v_owner.namespace, v_owner.consumer,
                       v_owner.namespace_retry || v_owner.consumer_retry,
                       p_ids, p_cts, p_ats, p_actions, p_afters, p_policies, p_reasons, p_errors);
    end if;
end $$;
comment on function core_node.settle(text, text, bigint[], integer[], timestamptz[], bigint[], integer[], timestamptz[], text[], interval[], jsonb[], text[], text[]) is 'For nodes: acks, and for p_ids the action retry (after NULL: by policy), reject or release, each fenced by (msg_id, read_ct, last_read_at). Returns what was not simply acked: retried, buried, released, lost (another holds it), gone. Sent again, a result is answered as before and changes nothing. Raises NX005, NX006, NX007, NX103, NX110, NX401, NX402.';
