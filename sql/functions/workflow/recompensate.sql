-- Rows must be locked by the caller. A compensation gets what its step returned, so another payload has no use.
create or replace function core_private.recompensate(
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
        update core.dead_letters l
           set status = 'resolved', resolution = 'replayed',
               resolved_at = v_now, resolved_by = core_private.principal(),
               claim_token = null, deadline = null, claimed_by = null
         where l.dead_letter_id = any (p_ids) and l.source_kind = 'workflow_compensation' and l.resolved_at is null
           and core_private.resume_compensation(core_private.uuid_if_valid(l.source_ref ->> 'runId'), v_now)
        returning l.dead_letter_id, null::bigint;
end $$;
comment on function core_private.recompensate(bigint[], jsonb, timestamptz, interval) is 'Goes on with compensations that failed; returns the dead letters it resolved.';
