create or replace function core_private.backfills_of(p_consumer_id integer)
returns table (state text, done_to bigint, bound bigint, delivered bigint, waits_for integer, created_at timestamptz)
language sql stable security definer rows 1
set search_path = pg_catalog, pg_temp
as $$
    select b.state, b.position, b.bound, b.delivered, cardinality(b.awaited), b.created_at
      from core_private.backfills b
     where b.consumer_id = p_consumer_id
     order by b.state = 'done', b.backfill_id desc
     limit 1
$$;
comment on function core_private.backfills_of(integer) is 'The latest backfill of a consumer, an open one first. Whoever calls it has asked whether the caller may know.';
