create or replace function core_private.match_backs_of(p_trigger_id uuid)
returns table (state text, done_to bigint, bound bigint, delivered bigint, waits_for integer)
language sql stable security definer rows 1
set search_path = pg_catalog, pg_temp
as $$
    select b.state, b.position, b.bound, b.delivered, cardinality(b.awaited)
      from core_private.backfills b
     where b.trigger_id = p_trigger_id
     order by b.state = 'done', b.backfill_id desc
     limit 1
$$;
comment on function core_private.match_backs_of(uuid) is 'The latest look back of a trigger, an open one first. Whoever calls it has asked whether the caller may know.';
