-- Rows must be locked by the caller, who has judged their claims.
create or replace function core_private.mark_resolved(p_ids bigint[], p_resolution text, p_reason text)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_total integer := 0;
    r       record;
begin
    for r in
        with done as (
            update core.dead_letters l
               set status = 'resolved', resolution = p_resolution,
                   resolved_at = v_now, resolved_by = core_private.principal(), resolved_reason = p_reason,
                   claim_token = null, deadline = null, claimed_by = null
              from core.dead_letters o
             where l.dead_letter_id = any (p_ids) and l.resolved_at is null and o.dead_letter_id = l.dead_letter_id
            returning l.namespace, l.dead_letter_id, l.dlq_msg_id, o.status as was)
        select d.namespace, q.queue_name, array_agg(d.dlq_msg_id) as copies,
               (array_agg(d.dead_letter_id order by d.dead_letter_id))[1:100] as ids,
               count(*) filter (where d.was = 'pending') as pending, count(*)::integer as n
          from done d
          left join core.queues q on q.namespace = d.namespace and q.consumer_id is null and q.dropped_at is null
         group by d.namespace, q.queue_name
    loop
        perform core_private.remove_copies(r.queue_name, r.copies);
        perform core_private.audit(
            case p_resolution when 'cancelled' then 'cancel_deliveries'
                 when 'discarded' then 'discard_dead_letters'
                 when 'expired' then 'expire_dead_letters' else 'resolve_dead_letters' end,
            r.namespace, case when cardinality(p_ids) = 1 then p_ids[1]::text end, p_reason,
            jsonb_build_object('resolution', p_resolution, 'done', r.n, 'first_ids', r.ids,
                'before', jsonb_build_object('pending', r.pending, 'reprocessing', r.n - r.pending),
                'after', jsonb_build_object('resolved', r.n)));
        v_total := v_total + r.n;
    end loop;
    return v_total;
end $$;
comment on function core_private.mark_resolved(bigint[], text, text) is 'Resolves unresolved dead letters without delivering them, and removes their copies; returns how many.';
