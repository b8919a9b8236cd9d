-- What is visible in p_target and not in p_seen has either an id that was running in p_seen, or one from its xmax on.
-- Asked for in these two parts, each is a range of the index: a transaction that is held open for long does not
-- make what was read since be read again. All of the first part comes before the second, in the order of ids. Of two
-- lower bounds the index would use either, so there is one. Bounds of ids alone would be a range of the primary key,
-- which reads all that is kept: by + 0 they are none. Without a sort only the index that is meant gives the order.
create or replace function core_private.next_broadcast(
    p_namespace text, p_cluster bigint, p_seen pg_snapshot, p_target pg_snapshot, p_at_xid xid8, p_at_id bigint,
    p_judged bigint, p_top bigint, p_types text[] = null)
returns core.broadcasts
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    v_late xid8[];
    v_row  core.broadcasts;
begin
    if p_at_xid < pg_snapshot_xmax(p_seen) then
        v_late := array(select x from pg_snapshot_xip(p_seen) x where pg_visible_in_snapshot(x, p_target));
        if v_late <> '{}' then
            select b.*
              into v_row
              from core.broadcasts b
             where b.namespace = p_namespace and b.xid = any (v_late) and (b.xid, b.broadcast_id) > (p_at_xid, p_at_id)
               and b.cluster = p_cluster and b.broadcast_id + 0 > p_judged and b.broadcast_id + 0 <= p_top
               and (p_types is null
                    or exists (select from unnest(p_types) p where core_private.matches(p, b.event_type)))
             order by b.xid, b.broadcast_id
             limit 1;
            if found then
                return v_row;
            end if;
        end if;
        p_at_xid := pg_snapshot_xmax(p_seen);
        p_at_id := 0;
    end if;
    select b.*
      into v_row
      from core.broadcasts b
     where b.namespace = p_namespace and (b.xid, b.broadcast_id) > (p_at_xid, p_at_id)
       and b.xid < pg_snapshot_xmax(p_target)
       and b.cluster = p_cluster and b.broadcast_id + 0 > p_judged and b.broadcast_id + 0 <= p_top
       and pg_visible_in_snapshot(b.xid, p_target)
       and (p_types is null
            or exists (select from unnest(p_types) p where core_private.matches(p, b.event_type)))
     order by b.xid, b.broadcast_id
     limit 1;
    return v_row;
end $$;
comment on function core_private.next_broadcast(text, bigint, pg_snapshot, pg_snapshot, xid8, bigint, bigint, bigint, text[]) is 'The first broadcast behind a place, beyond p_judged and up to p_top, that is visible in p_target and not in p_seen, of some types or of any; NULL if there is none.';
