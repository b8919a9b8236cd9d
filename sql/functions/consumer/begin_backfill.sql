create or replace function core_private.begin_backfill(
    p_consumer_id integer, p_namespace text, p_generation bigint, p_patterns text[], p_from timestamptz)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
    insert into core_private.backfills (consumer_id, namespace, generation, patterns, from_time, created_at)
    values (p_consumer_id, p_namespace, p_generation, p_patterns, p_from, core_private.now())
$$;
comment on function core_private.begin_backfill(integer, text, bigint, text[], timestamptz) is 'Has a consumer take what is in the log, from a time on, and older than a generation.';
