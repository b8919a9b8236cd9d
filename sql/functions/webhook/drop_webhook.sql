create or replace function core.drop_webhook(p_namespace text, p_consumer text, p_force boolean = false)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.require_duty(p_namespace, 'operate');
    perform core_private.require_webhook(p_namespace, p_consumer);
    perform core.drop_consumer(p_namespace, p_consumer, p_force);
end $$;
comment on function core.drop_webhook(text, text, boolean) is 'Drops a webhook with its consumer and its secrets, as core.drop_consumer does. Raises NX006, NX101, NX102, NX213, NX401, NX402.';
