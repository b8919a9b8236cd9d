-- At once, if the trigger was live in that generation, or by looking back earlier: what that has still to do counts as
-- done. Both go by one rule, since after a replacement nobody looks back beyond it.
create or replace function core_private.is_fired_by(
    p_trigger_id uuid, p_before bigint, p_generation bigint, p_emitted_at timestamptz)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select coalesce((
               select p.fires
                 from core_private.trigger_periods p
                where p.trigger_id = p_trigger_id and p.generation <= p_generation
                order by p.generation desc
                limit 1), false)
        or exists (
            select
              from core_private.backfills b
             where b.trigger_id = p_trigger_id and b.backfill_id < p_before
               and p_generation >= b.since_generation and p_generation < b.generation
               and p_emitted_at >= b.from_time)
$$;
comment on function core_private.is_fired_by(uuid, bigint, bigint, timestamptz) is 'Whether a trigger has made a delivery of an event that it matches, by its generation and time, or will make it, without the looks back from p_before on.';
