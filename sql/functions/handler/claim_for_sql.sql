create or replace function core_private.claim_for_sql(
    p_consumer_id integer, p_owner oid, p_keys text[], p_limit integer, p_lease interval, p_floor bigint,
    p_writes boolean,
    out ids bigint[], out cts integer[], out ats timestamptz[], out buried integer, out within interval)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if exists (select from core.consumers c where c.consumer_id = p_consumer_id and c.kind = 'ordered') then
        select c.* into ids, cts, ats, buried, within
          from core_private.claim_lanes(p_consumer_id, p_owner, p_limit, p_lease, p_floor, p_writes) c;
    else
        select c.* into ids, cts, ats, buried, within
          from core_private.claim_handler(p_consumer_id, p_owner, p_keys, p_limit, p_lease) c;
    end if;
end $$;
comment on function core_private.claim_for_sql(integer, oid, text[], integer, interval, bigint, boolean) is 'What core_private.claim_handler leases, or core_private.claim_lanes, by the kind of the consumer. Raises as core_node.claim.';
