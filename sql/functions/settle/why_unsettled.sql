-- A result that was settled before, whose answer was lost, is answered as it was then, wherever the
-- message has gone meanwhile: its row bears the fence in the form that settle_failed gives it; a dead
-- letter has the time of the fence as that of its last attempt.
create or replace function core_private.why_unsettled(
    p_queue text, p_ids bigint[], p_cts integer[] = null, p_ats timestamptz[] = null)
returns table (outcome text, msg_id bigint, due_at timestamptz)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if cardinality(p_ids) = 0 then
        return;
    end if;
    return query execute format($q$
        select case when r.fate is not null then r.fate
                    when r.here then 'lost'
                    when exists (
                        select
                          from core.dead_letters l
                         where l.queue_name = $1 and l.msg_id = u.id and l.source_kind in ('delivery', 'trigger')
                           and l.resolution is distinct from 'cancelled'
                           and l.last_attempt_at = u.at) then 'buried'
                    else 'gone' end,
               u.id,
               case when r.fate is not null then (r.headers ->> 'nexus-due')::timestamptz end
          from unnest($2, $3, $4) u(id, ct, at)
          left join lateral (
            select p.here, p.headers,
                   case when p.read_ct = u.ct and isfinite(p.last_read_at) and isfinite(u.at) then
                        case p.last_read_at - u.at
                        when interval '1 us' then 'retried'
                        when interval '2 us' then 'released' end end as fate
              from (select true as here, q.read_ct, q.last_read_at, q.headers
                      from %s q
                     where q.msg_id = u.id
                    union all
                    select false, d.read_ct, d.last_read_at, d.headers
                      from core.delayed d
                     where d.queue_name = $1 and d.msg_id = u.id
                    union all
                    select false, k.read_ct, k.last_read_at, k.headers
                      from core.parked k
                     where k.queue_name = $1 and k.msg_id = u.id and k.event_type = any (array(
                        with recursive t as (
                            (select x.event_type
                               from core.parked x
                              where x.queue_name = $1
                              order by x.event_type limit 1)
                            union all
                            select n.event_type
                              from t
                             cross join lateral (
                                select x.event_type
                                  from core.parked x
                                 where x.queue_name = $1 and x.event_type > t.event_type
                                 order by x.event_type limit 1) n)
                        select t.event_type from t))
                    limit 1) p) r on true
        $q$, core_private.queue_relation(p_queue))
      using p_queue, p_ids, p_cts, p_ats;
end $$;
comment on function core_private.why_unsettled(text, bigint[], integer[], timestamptz[]) is 'Why results found no lease. lost: another holds the message; gone: it is no longer there; retried, released, buried: this very result was settled before. Without p_cts and p_ats, of acks: lost or gone.';
