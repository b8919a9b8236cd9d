-- A run beside another run of the same sweep that is stuck leaves the row alone.
create or replace function core_private.note_turn(p_sweep text, p_queue text)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
    update core_private.sweeps s set last_queue = p_queue
     where s.name in (select x.name from core_private.sweeps x where x.name = p_sweep for update skip locked)
$$;
comment on function core_private.note_turn(text, text) is 'Remembers at which queue a sweep ended.';
