-- Pending ones have no finished_at, and failed ones go with their dead letter.
create or replace function core_private.remove_tombstones(p_limit integer = 10000)
returns integer
language sql
set search_path = pg_catalog, pg_temp
as $$
    select core_private.remove_old(
        'core.scheduled_events', 'finished_at', core_private.now() - interval '30 days', p_limit)
$$;
comment on function core_private.remove_tombstones(integer) is 'Removes up to p_limit scheduled events that were appended or cancelled 30 days ago; returns how many.';
