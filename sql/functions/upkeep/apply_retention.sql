-- A run that has worked for a minute leaves the rest to the next one.
create or replace function core_private.apply_retention(p_limit integer = 10000)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now     timestamptz := core_private.now();
    v_stop    timestamptz := clock_timestamp() + interval '1 minute';
    v_errors  integer;
    v_audit   integer;
    v_expired integer;
    v_dead    record;
    v_replays integer;
    v_left    integer;
begin
    v_errors := core_private.remove_old(
        'core.delivery_errors', 'failed_at', v_now - interval '7 days', p_limit, v_stop);
    v_expired := core_private.expire_unresolved(least(p_limit, 5000), v_stop);
    select r.dead_letters, r.scheduled_events
      into v_dead
      from core_private.remove_resolved(v_now - interval '30 days', least(p_limit, 5000), v_stop) r;
    v_audit := core_private.remove_old(
        'core.audit_log', 'happened_at', v_now - interval '400 days', p_limit, v_stop);
    v_replays := core_private.remove_old(
        'core_private.replays', 'finished_at', v_now - interval '30 days', p_limit, v_stop);
    v_left := core_private.remove_old(
        'core.abandoned_executions', 'created_at', v_now - interval '7 days', p_limit, v_stop);
    return jsonb_build_object(
        'delivery_errors', v_errors, 'expired', v_expired, 'dead_letters', v_dead.dead_letters,
        'scheduled_events', v_dead.scheduled_events, 'audit_log', v_audit, 'replays', v_replays,
        'abandoned_executions', v_left,
        'nodes', core_private.forget_nodes());
end $$;
comment on function core_private.apply_retention(integer) is 'Resolves as expired what expire_unresolved of its namespace says, and removes failed attempts and abandoned executions after 7 days, resolved dead letters after 30, with the scheduled events that ended in them, replays 30 days after their end, records of what people did after 400, nodes that are gone after 7; p_limit rows a statement, at most 5,000 of dead letters.';
