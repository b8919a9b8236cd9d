create or replace function core_private.is_handled(
    p_namespace text, p_consumer text, p_event_type text, p_now timestamptz)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select exists (
        select
          from unnest(core_private.live_patterns(p_namespace, p_consumer, p_now)) p
         where core_private.matches(p, p_event_type))
$$;
comment on function core_private.is_handled(text, text, text, timestamptz) is 'Whether some live node handles the type for the consumer.';
