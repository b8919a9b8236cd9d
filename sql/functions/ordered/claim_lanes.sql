-- core_private.claim_handler for an ordered consumer: the fence is that of a lane.
create or replace function core_private.claim_lanes(
    p_consumer_id integer, p_owner oid, p_limit integer, p_lease interval, p_floor bigint, p_writes boolean,
    out ids bigint[], out cts integer[], out ats timestamptz[], out buried integer, out within interval)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_consumer core.consumers;
begin
    select * into v_consumer from core.consumers c where c.consumer_id = p_consumer_id;
    select array_agg(h.message_id order by h.lane_id) filter (where h.outcome = 'claimed'),
           array_agg(h.lane_id order by h.lane_id) filter (where h.outcome = 'claimed'),
           array_agg(h.until order by h.lane_id) filter (where h.outcome = 'claimed'),
           count(*) filter (where h.outcome = 'buried')
      into ids, cts, ats, buried
      from core_private.claim_heads(
               v_consumer, session_user, '{*}', '{0}', p_limit, p_lease, p_floor, true, p_writes) h;
    within := (core_private.sql_handler(p_consumer_id, p_owner, '*')).timeout;
end $$;
comment on function core_private.claim_lanes(integer, oid, integer, interval, bigint, boolean) is 'Takes lanes of an ordered consumer for the SQL handler that an owner has for it, each with its next event: their messages, the lanes, when the leases end, how many events went to the dead letters in place of that, and how long a call may take. The last two arguments are those of core_private.claim_heads. Raises NX401, NX402.';
