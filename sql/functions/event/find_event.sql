-- An index on a random uid would cost each emit a page of its own, so the time is what bounds the search.
create or replace function core.find_event(p_event_uid uuid, p_around timestamptz = null)
returns bigint
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_names text[] := core.visible_namespaces();
begin
    return (
        select e.event_id
          from core.event_log e
         where e.event_uid = p_event_uid and e.namespace = any (v_names)
           and e.emitted_at >= coalesce(p_around - interval '1 hour', v_now - interval '1 day')
           and e.emitted_at <= coalesce(p_around + interval '1 hour', v_now)
         limit 1);
end $$;
comment on function core.find_event(uuid, timestamptz) is 'The event_id of a uid; NULL if there is none in the hour before or after p_around, or, without one, in the last day. The log has no index by uid; it is read for that time.';
