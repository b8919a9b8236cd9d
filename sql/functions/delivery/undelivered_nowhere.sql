create or replace function core_private.undelivered_nowhere(p_namespace text, p_consumer text, p_event_ids bigint[])
returns table (event_id bigint, outcome text, detail text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select u.id,
           case when e.event_id is null then 'not_found'
                when l.dead_letter_id is not null then 'dead'
                else 'settled' end,
           case when l.dead_letter_id is not null
                then format('dead letter %s: replay or discard it', l.dead_letter_id) end
      from (select distinct i.id from unnest(p_event_ids) i(id)) u
      left join lateral (
            select x.event_id, x.event_uid
              from core.event_log x
             where x.event_id = u.id and x.namespace = p_namespace
             limit 1) e on true
      left join lateral (
            select d.dead_letter_id
              from core.dead_letters d
             where d.event_uid = e.event_uid and d.namespace = p_namespace
               and d.source_kind in ('delivery', 'trigger') and d.resolved_at is null
               and (p_consumer is null or d.consumer = p_consumer)
             order by d.dead_letter_id desc limit 1) l on true
     order by u.id
$$;
comment on function core_private.undelivered_nowhere(text, text, bigint[]) is 'Why events have no delivery that waits: not_found (no such event of the namespace), dead (a dead letter is unresolved), settled (handled, or taken away).';
