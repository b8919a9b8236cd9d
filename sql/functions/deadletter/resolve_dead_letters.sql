create or replace function core_private.resolve_dead_letters(p_ids bigint[], p_resolution text, p_reason text)
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
               set status = 'resolved', resolution = p_resolution, resolved_at = v_now, resolved_by = core_private.principal(), resolved_reason = p_reason
             where l.dead_letter_id = any (p_ids) and l.status = 'pending'
            returning l.namespace, l.dlq_msg_id)
        select q.queue_name, array_agg(d.dlq_msg_id) as copies, count(*)::integer as n
          from done d left join core.queues q on q.namespace = d.namespace and q.consumer_id is null
         group by q.queue_name
    loop
        if r.queue_name is not null then
            execute format('delete from %s q where q.msg_id = any ($1)', core_private.queue_relation(r.queue_name)) using r.copies;
        end if;
        v_total := v_total + r.n;
    end loop;
    return v_total;
end $$;
comment on function core_private.resolve_dead_letters(bigint[], text, text) is 'Resolves pending dead letters without delivering them, and removes their copies; returns how many.';
