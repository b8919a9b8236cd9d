create or replace function core_private.trigger_state(
    p_trigger_id uuid, out source jsonb, out handled boolean, out principal_ok boolean, out retry jsonb)
returns record
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := core_private.now();
begin
    select core_private.trigger_source(t.trigger_id, t.kind),
           core_private.is_handled(t.namespace, t.consumer, t.target, v_now),
           not core_private.trigger_trouble(t.namespace, t.kind, t.registered_by_principal),
           core_private.trigger_policy(t.trigger_id)
      into source, handled, principal_ok, retry
      from core.triggers t
     where t.trigger_id = p_trigger_id;
end $$;
comment on function core_private.trigger_state(uuid) is 'What core.trigger_status says of a trigger beside what its row has.';
