-- Counts are bounded, and come from indexes: a list of ten thousand triggers asks for each of them.
create or replace function core_private.trigger_state(
    p_trigger_id uuid, out source jsonb, out handled boolean, out principal_ok boolean, out retry jsonb,
    out failures integer, out dead integer, out drops integer)
returns record
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := core_private.now();
begin
    select core_private.trigger_source(t.trigger_id, t.kind) - 'token_hash',
           core_private.is_handled(t.namespace, t.consumer, t.target, v_now),
           not core_private.trigger_trouble(t.namespace, t.kind, t.registered_by_principal, t.mode),
           core_private.trigger_policy(t.trigger_id)
      into source, handled, principal_ok, retry
      from core.triggers t
     where t.trigger_id = p_trigger_id;
    failures := (select count(*) from (
        select from core.delivery_errors e where e.trigger_id = p_trigger_id limit 10001) x);
    dead := (select count(*) from (
        select
          from core.dead_letters l
         where l.envelope ->> 'triggerId' = p_trigger_id::text and l.envelope ? 'triggerId' and l.resolved_at is null
         limit 10001) x);
    drops := (select count(*) from (
        select from core.trigger_drops d where d.trigger_id = p_trigger_id limit 10001) x);
end $$;
comment on function core_private.trigger_state(uuid) is 'What core.trigger_status says of a trigger beside what its row has.';
