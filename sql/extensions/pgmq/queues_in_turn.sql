-- Of thousands of queues most are empty. The server's statistics know which; they come a second late,
-- and begin at nothing after a crash. So each call also takes a sixty-fourth of all, by the clock:
-- what the statistics missed is found within eleven minutes.
create or replace function core_private.queues_in_turn(p_sweep text, p_limit integer)
returns table (queue_name text, relation text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_after  text := coalesce((select s.last_queue from core_private.sweeps s where s.name = p_sweep), '');
    v_slice  integer := (extract(epoch from core_private.now())::bigint / 10) % 64;
    v_closed text[] := core_private.closed_namespaces();
begin
    return query
    select q.queue_name, core_private.queue_relation(q.queue_name)
      from core.queues q
      join pg_class c on c.relname = 'q_' || q.queue_name and c.relnamespace = to_regnamespace('pgmq')
     where q.consumer_id is not null and q.namespace <> all (v_closed)
       and (pg_stat_get_live_tuples(c.oid) > 0 or pg_stat_get_xact_tuples_inserted(c.oid) > 0
            or pg_stat_get_tuples_inserted(c.oid) = 0 and c.relpages > 0
            or abs(hashtext(q.queue_name)::bigint) % 64 = v_slice)
     order by q.queue_name <= v_after, q.queue_name limit p_limit;
end $$;
comment on function core_private.queues_in_turn(text, integer) is 'Up to p_limit queues of consumers that may hold messages, after the one at which the sweep ended last, then from the first.';
