create or replace function core_private.audit_change(
    p_action text, p_namespace text, p_target text, p_before jsonb, p_after jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_keys text[] := core_private.changed_members(coalesce(p_before, '{}'), coalesce(p_after, '{}'));
begin
    v_keys := array(select k from unnest(v_keys) k where k <> 'updated_at');
    if v_keys = '{}' then
        return;
    end if;
    perform core_private.audit(p_action, p_namespace, p_target, null, jsonb_build_object(
        'before', (select jsonb_object_agg(k, core_private.cut_value(p_before -> k)) from unnest(v_keys) k
                    where p_before -> k <> 'null'),
        'after', (select jsonb_object_agg(k, core_private.cut_value(p_after -> k)) from unnest(v_keys) k
                   where p_after -> k <> 'null')));
end $$;
comment on function core_private.audit_change(text, text, text, jsonb, jsonb) is 'Records what somebody changed: of what is an object before and after, NULL where there was none, the members that are not the same. Nothing where all are.';
