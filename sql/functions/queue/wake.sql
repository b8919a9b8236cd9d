-- Notifies only if somebody waits: an unconditional notify takes a lock of the whole database at each
-- commit. A notification queue that fills up would fail the commit, so it is left alone then; pollers
-- come by anyway. The two ways to ask are two
-- statements: as one they cost three times as much.
create or replace function core_private.wake(p_key text, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_waits boolean := exists (
        select from core_private.wake_flags f where f.key = p_key and f.waiting_until > p_now);
begin
    if p_key = 'timers' and not v_waits then
        v_waits := exists (
            select from core_private.wake_flags f where f.key ^@ 'timers ' and f.waiting_until > p_now);
    end if;
    if v_waits and pg_notification_queue_usage() < 0.5 then
        perform pg_notify('nexus_wake', p_key);
    end if;
end $$;
comment on function core_private.wake(text, timestamptz) is 'Wakes whoever waits for the key, at commit.';
