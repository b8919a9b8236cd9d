create or replace function core_private.next_scheduled_event_due(p_closed text[] = '{}')
returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_floor timestamptz := (select f.floor from core_private.fire_floor f);
    v_due   timestamptz;
begin
    select e.due_at
      into v_due
      from core.scheduled_events e
     where e.status = 'pending' and e.due_at >= v_floor and e.namespace <> all (p_closed)
     order by e.due_at limit 1;
    return v_due;
end $$;
comment on function core_private.next_scheduled_event_due(text[]) is 'When the next scheduled event is due in a namespace that is none of p_closed; NULL if none is pending.';
