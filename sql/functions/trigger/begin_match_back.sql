-- Up to the last generation in which the trigger became live: from then on emits have met it.
create or replace function core_private.begin_match_back(
    p_trigger_id uuid, p_since bigint, p_from timestamptz, p_rate text)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
    insert into core_private.backfills (
        trigger_id, namespace, generation, since_generation, patterns, filter, from_time, rate, created_at)
    select t.trigger_id, t.namespace, max(p.generation), p_since, array[d.pattern], d.filter, p_from, p_rate,
           core_private.now()
      from core.triggers t
      join core.event_trigger_details d on d.trigger_id = t.trigger_id
      join core_private.trigger_periods p on p.trigger_id = t.trigger_id
     where t.trigger_id = p_trigger_id
     group by t.trigger_id, d.trigger_id
$$;
comment on function core_private.begin_match_back(uuid, bigint, timestamptz, text) is 'Has a trigger take what is in the log, from a generation and a time on, and that it had not got.';
