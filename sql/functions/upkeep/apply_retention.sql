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
    v_dead    integer := 0;
    v_events  integer := 0;
    v_replays integer;
    v_drops   integer;
    v_left    integer := 0;
    v_runs    integer;
    r         record;
    g         record;
begin
    v_errors := core_private.remove_old(
        'core.delivery_errors', 'failed_at', v_now - interval '7 days', p_limit, v_stop);
    v_expired := core_private.expire_unresolved(least(p_limit, 5000), v_stop);
    for r in select k.* from core_private.kept_for('dead_letter_retention') k loop
        select x.*
          into g
          from core_private.remove_resolved(v_now - r.keep, least(p_limit, 5000), v_stop, r."only", r.but) x;
        v_dead := v_dead + g.dead_letters;
        v_events := v_events + g.scheduled_events;
    end loop;
    v_audit := core_private.remove_old(
        'core.audit_log', 'happened_at', v_now - interval '400 days', p_limit, v_stop);
    v_replays := core_private.remove_old(
        'core_private.replays', 'finished_at', v_now - interval '30 days', p_limit, v_stop);
    v_drops := core_private.remove_old(
        'core.trigger_drops', 'dropped_at', v_now - interval '7 days', p_limit, v_stop);
    for r in select k.* from core_private.kept_for('abandoned_retention') k loop
        v_left := v_left + core_private.remove_old(
            'core.abandoned_executions', 'created_at', v_now - r.keep, p_limit, v_stop,
            case when r."only" is null then format('x.namespace <> all (%L)', r.but)
                 else format('x.namespace = any (%L)', r."only") end);
    end loop;
    v_runs := core_private.remove_runs(least(p_limit, 5000), v_stop);
    return jsonb_build_object(
        'delivery_errors', v_errors, 'expired', v_expired, 'dead_letters', v_dead,
        'scheduled_events', v_events, 'audit_log', v_audit, 'replays', v_replays,
        'abandoned_executions', v_left, 'trigger_drops', v_drops, 'workflow_runs', v_runs,
        'nodes', core_private.forget_nodes());
end $$;
comment on function core_private.apply_retention(integer) is 'Resolves as expired what expire_unresolved of its namespace says, and removes failed attempts and what triggers dropped after 7 days, abandoned executions and resolved dead letters when their retention says so (7 and 30 days; core.alter_settings), with the scheduled events that ended in them, replays 30 days after their end, runs of workflows workflow_retention of their namespace after theirs, records of what people did after 400, nodes that are gone after 7; p_limit rows a statement, at most 5,000 of dead letters.';
