-- The caller that inserts a key first wins it. Other callers wait in their insert for the transaction of the first
-- one. A second statement, which has a new snapshot under READ COMMITTED, then reads the winner. If the winner rolled
-- back, or its row has expired, the loop goes round again. Keys are taken in one order, so that calls with the same
-- keys cannot deadlock.
--
-- A key of p_pending gets its message id here. It is free again once that message is nowhere any more. For callers
-- that name it in p_queued it is free as soon as a node has taken the message.
create or replace function core_private.claim_keys(
    p_namespace text, p_keys text[], p_now timestamptz, p_expires_at timestamptz, p_pending text[], p_queued text[],
    p_priorities smallint[] = null)
returns table (key text, event_id bigint, event_uid uuid, won boolean, msg_id bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_todo  text[] := array(select distinct u.k collate "C" from unnest(p_keys) u(k) where u.k is not null);
    v_keys  text[] := '{}';
    v_ids   bigint[] := '{}';
    v_uids  uuid[] := '{}';
    v_won   boolean[] := '{}';
    v_msgs  bigint[] := '{}';
    v_next  regclass;
    v_round integer := 0;
    r       record;
begin
    if p_pending <> '{}' then
        v_next := to_regclass(core_private.queue_sequence('core_events_' || replace(p_namespace, '-', '_')));
    end if;
    while v_todo <> '{}' loop
        v_round := v_round + 1;
        if v_round > 10 then
            raise exception using errcode = '40001',
                message = 'dedupe keys keep vanishing',
                hint = 'Run the transaction again.';
        end if;
        -- Waits for whoever is taking an expired key over: if that one rolls back, the key is free here.
        delete from core.event_keys e
         using (select x.ctid as tid
                  from core.event_keys x
                 where x.namespace = p_namespace and x.key = any (v_todo)
                   and case when x.msg_id is null then x.expires_at <= p_now
                            else not core_private.keeps_key(
                                         x.namespace, x.msg_id, x.event_id, x.key = any (p_queued), p_now) end
                 order by x.key collate "C" for update) old
         where e.ctid = old.tid;
        with ins as (
            insert into core.event_keys as e (namespace, key, event_id, event_uid, expires_at, msg_id)
            select p_namespace, s.k, nextval('core.event_id_seq'), gen_random_uuid(), p_expires_at,
                   case when s.k = any (p_pending)
                        then nextval(v_next) + coalesce(core_private.default_offset(
                                 p_namespace, p_priorities[array_position(p_pending, s.k)]), 0) end
              from (select u.k from unnest(v_todo) u(k) order by u.k collate "C") s
            on conflict do nothing
            returning e.key, e.event_id, e.event_uid, e.msg_id)
        select coalesce(array_agg(i.key), '{}') as keys,
               coalesce(array_agg(i.event_id), '{}') as ids,
               coalesce(array_agg(i.event_uid), '{}') as uids,
               coalesce(array_agg(i.msg_id), '{}') as msgs
          into r
          from ins i;
        v_keys := v_keys || r.keys;
        v_ids := v_ids || r.ids;
        v_uids := v_uids || r.uids;
        v_won := v_won || array_fill(true, array[cardinality(r.keys)]);
        v_msgs := v_msgs || r.msgs;
        v_todo := array(select t.k from unnest(v_todo) t(k) where t.k <> all (r.keys));
        exit when v_todo = '{}';
        select coalesce(array_agg(e.key), '{}') as keys,
               coalesce(array_agg(e.event_id), '{}') as ids,
               coalesce(array_agg(e.event_uid), '{}') as uids
          into r
          from core.event_keys e
         where e.namespace = p_namespace and e.key = any (v_todo)
           and case when e.msg_id is null then e.expires_at > p_now
                    else core_private.keeps_key(
                             e.namespace, e.msg_id, e.event_id, e.key = any (p_queued), p_now) end;
        v_keys := v_keys || r.keys;
        v_ids := v_ids || r.ids;
        v_uids := v_uids || r.uids;
        v_won := v_won || array_fill(false, array[cardinality(r.keys)]);
        v_msgs := v_msgs || array_fill(null::bigint, array[cardinality(r.keys)]);
        v_todo := array(select t.k from unnest(v_todo) t(k) where t.k <> all (r.keys));
    end loop;
    return query select u.* from unnest(v_keys, v_ids, v_uids, v_won, v_msgs) u;
end $$;
comment on function core_private.claim_keys(text, text[], timestamptz, timestamptz, text[], text[], smallint[]) is 'For each distinct key the event it stands for, whether this call won it, and the message drawn for it, if it is among p_pending (p_priorities is parallel to that). Raises 40001 or 40P01 where Postgres does; both mean: run the transaction again.';
