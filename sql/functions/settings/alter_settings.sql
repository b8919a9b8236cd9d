-- In the database and not in the environment of a program, since pg_cron sees none. A retry policy is merged.
create or replace function core.alter_settings(p_options jsonb)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_before jsonb;
begin
    if not pg_has_role(core_private.caller(), 'nexus_admin', 'member') then
        raise exception using errcode = 'NX401', column = 'p_options',
            message = format('role %I may not alter the settings', core_private.caller()),
            hint = format('grant nexus_admin to %I;', core_private.caller());
    end if;
    perform core_private.refuse_borrowed_session();
    perform core_private.check_option_keys(
        p_options, '{max_trigger_depth,trigger_retry,dead_letter_retention,abandoned_retention}');
    perform core_private.check_settings(p_options, false);
    select to_jsonb(s) into v_before from core_private.settings s for no key update;
    update core_private.settings s
       set max_trigger_depth = coalesce((p_options ->> 'max_trigger_depth')::integer, s.max_trigger_depth),
           trigger_retry = s.trigger_retry || coalesce(p_options -> 'trigger_retry', '{}'),
           dead_letter_retention = coalesce(
               (p_options ->> 'dead_letter_retention')::interval, s.dead_letter_retention),
           abandoned_retention = coalesce((p_options ->> 'abandoned_retention')::interval, s.abandoned_retention);
    perform core_private.audit_change('alter_settings', null, null, v_before, to_jsonb(s))
       from core_private.settings s;
end $$;
comment on function core.alter_settings(jsonb) is 'Changes settings of the database, and keeps the others; core.settings shows them, and options of a namespace that are named alike win. max_trigger_depth (8): how deep in its chain an event may lie for triggers to fire; trigger_retry: retries of triggers that are created from then on, merged into what is set (max_attempts 3, shape exponential, base 1 s, max 5 min, jitter 0.2); dead_letter_retention (30 days): how long resolved dead letters are kept; abandoned_retention (7 days): how long abandoned executions are. Raises 42501, NX004, NX005, NX007, NX401.';
