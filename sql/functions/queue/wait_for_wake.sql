create or replace function core.wait_for_wake(p_keys text[], p_for interval)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_until timestamptz := core_private.now() + p_for;
begin
    if p_for is null or p_for < interval '0' or p_for > interval '1 minute' then
        raise exception using errcode = 'NX006', column = 'p_for', message = format('p_for cannot be %s', coalesce(p_for::text, 'NULL')), hint = 'Give 0 (no longer waiting) to 1 minute.';
    end if;
    insert into core_private.wake_flags as f (key, waiting_until)
    select distinct k, v_until from unnest(p_keys) k where k = 'timers' or exists (select from core.queues q where q.queue_name = k) order by k
    on conflict (key) do update set waiting_until = case when p_for = interval '0' then excluded.waiting_until else greatest(f.waiting_until, excluded.waiting_until) end;
end $$;
comment on function core.wait_for_wake(text[], interval) is 'For nodes: says that somebody waits for these queues, or for the key timers, so that emit and schedules notify on channel nexus_wake. Zero ends the waiting. Raises NX006.';
