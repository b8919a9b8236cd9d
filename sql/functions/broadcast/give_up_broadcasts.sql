-- No node asks for what none of its patterns matches, so it would wait for ever. It has the time in which a node may be
-- away: a handler that comes back within that still gets it. No attempt was made, so none is counted.
create or replace function core_private.give_up_broadcasts(p_limit integer = 1000)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now    timestamptz := core_private.now();
    v_stop   timestamptz := clock_timestamp() + interval '2 seconds';
    v_closed text[] := core_private.closed_namespaces();
    v_cursor core_private.broadcast_cursors;
    v_before timestamptz;
    v_row    core_private.broadcast_deliveries;
    v_n      integer := 0;
begin
    for v_cursor in
        select c.*
          from core_private.broadcast_cursors c
          join core.namespaces n on n.namespace = c.namespace
         where c.namespace <> all (v_closed)
           and exists (
               select
                 from core_private.broadcast_deliveries d
                where d.node_id = c.node_id and d.due_at <= v_now - n.keep_broadcasts
                  and d.broadcast_id is distinct from c.taken_id
                  and not exists (select from unnest(c.patterns) p where core_private.matches(p, d.event_type)))
         order by c.node_id
           for update of c skip locked
           for key share of n skip locked
    loop
        select v_now - n.keep_broadcasts
          into v_before
          from core.namespaces n
         where n.namespace = v_cursor.namespace;
        for v_row in
            select d.*
              from core_private.broadcast_deliveries d
             where d.node_id = v_cursor.node_id and d.due_at <= v_before
               and d.broadcast_id is distinct from v_cursor.taken_id
               and not exists (select from unnest(v_cursor.patterns) p where core_private.matches(p, d.event_type))
             order by d.due_at, d.broadcast_id
             limit p_limit - v_n
        loop
            v_row.failures := v_row.failures - 1;
            perform core_private.settle_one_broadcast(
                v_row, 'reject', null, null, 'No handler for event ' || v_row.event_type, null, null, v_now);
            v_n := v_n + 1;
            exit when clock_timestamp() > v_stop;
        end loop;
        exit when v_n >= p_limit or clock_timestamp() > v_stop;
    end loop;
    return v_n;
end $$;
comment on function core_private.give_up_broadcasts(integer) is 'Makes dead letters of up to p_limit broadcasts that have been due to a node for longer than its namespace keeps them and that it has no handler for any more; says how many.';
