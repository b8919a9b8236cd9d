-- Pending ones have no finished_at, and failed ones go with their dead letter.
create or replace function core_private.remove_tombstones(p_limit integer = 10000)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := core_private.now();
    v_closed text[] := core_private.closed_namespaces();
    v_n   integer;
begin
    delete from core.scheduled_events e
     using (select x.schedule_id, x.namespace
              from core.scheduled_events x
             where x.finished_at < v_now - interval '30 days' and x.namespace <> all (v_closed)
             order by x.finished_at
             limit p_limit
               for update skip locked) old
     where e.schedule_id = old.schedule_id and e.namespace = old.namespace;
    get diagnostics v_n = row_count;
    return v_n;
end $$;
comment on function core_private.remove_tombstones(integer) is 'Removes up to p_limit scheduled events that were appended or cancelled 30 days ago; returns how many.';
