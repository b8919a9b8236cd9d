create or replace function core_private.apply_namespace_options(p_namespace text, p_options jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    update core.namespaces n
       set metadata = coalesce(p_options -> 'metadata', n.metadata),
           retry = coalesce(p_options -> 'retry', n.retry),
           unhandled_after = coalesce((p_options ->> 'unhandled_after')::interval, n.unhandled_after),
           dedupe_for = coalesce((p_options ->> 'dedupe_for')::interval, n.dedupe_for),
           keep_broadcasts = coalesce((p_options ->> 'keep_broadcasts')::interval, n.keep_broadcasts),
           workflow_retention = coalesce((p_options ->> 'workflow_retention')::interval, n.workflow_retention),
           expire_unresolved = case when p_options ? 'expire_unresolved'
                                    then nullif(p_options ->> 'expire_unresolved', 'off')::interval
                                    else n.expire_unresolved end,
           max_trigger_depth = case when p_options ? 'max_trigger_depth'
               then nullif(p_options ->> 'max_trigger_depth', 'default')::integer else n.max_trigger_depth end,
           trigger_retry = case when p_options ? 'trigger_retry'
               then nullif(p_options ->> 'trigger_retry', 'default')::jsonb else n.trigger_retry end,
           dead_letter_retention = case when p_options ? 'dead_letter_retention'
               then nullif(p_options ->> 'dead_letter_retention', 'default')::interval else n.dead_letter_retention end,
           abandoned_retention = case when p_options ? 'abandoned_retention'
               then nullif(p_options ->> 'abandoned_retention', 'default')::interval else n.abandoned_retention end,
           max_payload_bytes = coalesce((p_options ->> 'max_payload_bytes')::integer, n.max_payload_bytes),
           default_consumer = coalesce((p_options ->> 'default_consumer')::boolean, n.default_consumer),
           restricted = coalesce((p_options ->> 'restricted')::boolean, n.restricted),
           updated_at = core_private.now()
     where n.namespace = p_namespace;
end $$;
comment on function core_private.apply_namespace_options(text, jsonb) is 'Writes checked options into their columns.';
