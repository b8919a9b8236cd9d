-- Rows must be locked by the caller. To the node that gave it up and to no other: the others have had it.
-- What that has no handler for any more stays dead, since it would never ask for it.
create or replace function core_private.rebroadcast(
    p_ids bigint[], p_payload jsonb, p_first_at timestamptz = null, p_gap interval = null)
returns table (dead_letter_id bigint, msg_id bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := core_private.now();
    v_key text;
begin
    return query
        with dead as materialized (
            select l.*, l.source_ref ->> 'node' as node,
                   greatest(coalesce(p_first_at, v_now)
                                + coalesce(p_gap, '0') * (row_number() over (order by l.dead_letter_id) - 1),
                            v_now) as due
              from core.dead_letters l
             where l.dead_letter_id = any (p_ids) and l.source_kind = 'broadcast' and l.resolved_at is null),
        back as (
            insert into core_private.broadcast_deliveries (
                node_id, broadcast_id, namespace, event_type, message, headers, due_at, replay_of, replay_count)
            select d.node, d.msg_id, d.namespace, d.event_type,
                   d.envelope || jsonb_build_object('payload', coalesce(p_payload, d.payload)), d.headers, d.due,
                   d.dead_letter_id, d.replay_count + 1
              from dead d
              join core_private.broadcast_cursors c on c.node_id = d.node and c.namespace = d.namespace
             where exists (select from unnest(c.patterns) p where core_private.matches(p, d.event_type))
             order by d.dead_letter_id
            on conflict do nothing
            returning replay_of)
        update core.dead_letters l
           set status = 'resolved', resolution = 'replayed',
               resolved_at = v_now, resolved_by = core_private.principal(), replay_msg_id = l.msg_id,
               claim_token = null, deadline = null, claimed_by = null
          from back b
         where l.dead_letter_id = b.replay_of
        returning l.dead_letter_id, l.msg_id;
    for v_key in
        select distinct core_private.broadcast_key(l.namespace) as key
          from core.dead_letters l
         where l.dead_letter_id = any (p_ids) and l.source_kind = 'broadcast'
         order by key
    loop
        perform core_private.wake(v_key, v_now);
    end loop;
end $$;
comment on function core_private.rebroadcast(bigint[], jsonb, timestamptz, interval) is 'Gives broadcasts that ended as dead letters of a node to that node again; returns those it could.';
