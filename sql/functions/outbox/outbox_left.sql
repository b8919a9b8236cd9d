-- Counted to a bound, so that the look does not cost what a queue may hold.
create or replace function core_private.outbox_left(
    p_namespace text, p_queue text, p_consumer_id integer, p_writers text[], p_bound integer = 10000)
returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_cluster  bigint := core_private.cluster_id();
    v_messages integer;
    v_letters  integer;
begin
    select count(*)
      into v_messages
      from (select
              from core_private.consumer_lanes c
             cross join lateral core_private.lane_now(c.lane_id) l
             cross join lateral (
                 select
                   from core_private.pending_in_lane(l, p_bound) p
                  where not core_private.of_another_server(l, v_cluster)
                  union all
                 select
                   from core_private.lane_messages m
                  where m.lane_id = c.lane_id and core_private.of_another_server(l, v_cluster)) m
             where c.consumer_id = p_consumer_id
             limit p_bound) x;
    select count(*)
      into v_letters
      from (select
              from core.dead_letters l
             where l.namespace = p_namespace and l.source_kind = 'lane' and l.consumer = p_queue
               and l.resolved_at is null
             limit p_bound) x;
    return array_remove(array[
        case when p_writers <> '{}'
             then format('writers that may have enqueued to it and have not committed: %s',
                         array_to_string(p_writers, ', '))
             end,
        case when v_messages > 0
             then format('messages that have not ended (%s%s)',
                         case when v_messages = p_bound then 'at least ' end, v_messages)
             end,
        case when v_letters > 0
             then format('unresolved dead letters (%s%s)',
                         case when v_letters = p_bound then 'at least ' end, v_letters)
             end], null);
end $$;
comment on function core_private.outbox_left(text, text, integer, text[], integer) is 'What an outbox queue still has, in words, each counted to p_bound: transactions that may have enqueued to it, messages that have not ended (of a queue that was restored from a dump all), unresolved dead letters.';
