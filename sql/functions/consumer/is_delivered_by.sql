-- At once, if its patterns of that generation matched, or by a backfill that was asked for earlier: what that one has
-- still to do counts as done.
create or replace function core_private.is_delivered_by(
    p_consumer_id integer, p_before bigint, p_event_type text, p_generation bigint, p_emitted_at timestamptz)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select exists (
            select
              from core.consumers c
             cross join lateral (
                select p.patterns
                  from core_private.consumer_patterns p
                 where p.consumer_id = c.consumer_id and p.generation <= p_generation
                 order by p.generation desc
                 limit 1) h
             where c.consumer_id = p_consumer_id and c.created_generation <= p_generation
               and exists (select from unnest(h.patterns) x where core_private.matches(x, p_event_type)))
        or exists (
            select
              from core_private.backfills b
             where b.consumer_id = p_consumer_id and b.backfill_id < p_before
               and p_generation < b.generation and p_emitted_at >= b.from_time
               and exists (select from unnest(b.patterns) x where core_private.matches(x, p_event_type)))
$$;
comment on function core_private.is_delivered_by(integer, bigint, text, bigint, timestamptz) is 'Whether a consumer has got an event, by its type, generation and time, or will get it, without the backfills from p_before on.';
