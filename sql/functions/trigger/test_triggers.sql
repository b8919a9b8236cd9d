create or replace function core.test_triggers(
    p_namespace text, p_event_type text, p_payload jsonb = '{}', p_depth integer = 0)
returns table (trigger_id uuid, name text, target text, fires boolean, why text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := core_private.now();
begin
    perform core_private.require_consuming(p_namespace);
    perform core_private.check_event_type(p_event_type);
    if p_payload is null or p_depth is null then
        raise exception using errcode = 'NX006',
            column = case when p_payload is null then 'p_payload' else 'p_depth' end,
            message = 'NULL is no payload and no depth', hint = 'Leave it out, or give one.';
    end if;
    return query
        select j.trigger_id, j.name, j.target, j.why is null, j.why
          from (select t.trigger_id, t.name::text, t.target::text, case
                    when not t.enabled then 'disabled'
                    when m.why is not null then m.why
                    when p_depth > core_private.max_trigger_depth(p_namespace) then 'depth'
                    when core_private.trigger_trouble(t.namespace, t.kind, t.registered_by_principal, t.mode)
                    then 'principal_revoked'
                    when not core_private.is_handled(t.namespace, t.consumer, t.target, v_now)
                    then 'no live node handles the target' end as why
                  from core.triggers t
                 cross join lateral core_private.why_no_match(
                            t.trigger_id, t.kind, p_event_type, p_payload) m(why)
                 where t.namespace = p_namespace) j
         order by j.name;
end $$;
comment on function core.test_triggers(text, text, jsonb, integer) is 'What the triggers of a namespace, disabled ones too, would do with such an event, and the first reason against it: disabled, pattern, filter, depth, principal_revoked, no live node handles the target (then its delivery waits). It emits nothing. Raises NX002, NX006, NX101, NX401, NX402.';
