-- Rows must be locked by the caller. The dead letter keeps the payload that failed. All are due at once: the claim of
-- due events takes them in portions, so that a rate and a delay have no use.
create or replace function core_private.refire(
    p_ids bigint[], p_payload jsonb, p_first_at timestamptz = null, p_gap interval = null)
returns table (dead_letter_id bigint, msg_id bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := core_private.now();
begin
    return query
        with dead as materialized (
            select l.dead_letter_id, l.namespace, (l.source_ref ->> 'scheduleId')::uuid as schedule_id
              from core.dead_letters l
             where l.dead_letter_id = any (p_ids)
               and l.source_kind = 'task' and l.source_ref ? 'scheduleId' and l.resolved_at is null),
        back as (
            update core.scheduled_events e
               set status = 'pending', due_at = v_now, attempts = 0, first_failed_at = null,
                   payload = coalesce(p_payload, e.payload),
                   payload_bytes = case when p_payload is null then e.payload_bytes
                                        else octet_length(p_payload::text) end
              from dead d
             where e.schedule_id = d.schedule_id and e.namespace = d.namespace and e.status = 'failed'
            returning d.dead_letter_id)
        update core.dead_letters l
           set status = 'resolved', resolution = 'replayed',
               resolved_at = v_now, resolved_by = core_private.principal(),
               claim_token = null, deadline = null, claimed_by = null
          from back b
         where l.dead_letter_id = b.dead_letter_id
        returning l.dead_letter_id, null::bigint;
    if found then
        perform core_private.wake('timers', v_now);
    end if;
end $$;
comment on function core_private.refire(bigint[], jsonb, timestamptz, interval) is 'Makes scheduled events that ended as dead letters pending again, due at once; returns the dead letters it resolved.';
