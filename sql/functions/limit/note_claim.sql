-- In the transaction that leases them, under the lock that core_private.room_for took.
create or replace function core_private.note_claim(
    p_noted core_private.limited_claims, p_every double precision, p_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    v_n integer := coalesce(cardinality(p_ids), 0);
begin
    if v_n = 0 then
        return;
    end if;
    insert into core_private.limited_claims (
        consumer_id, claim_no, claimed_at, whole, msg_ids, at_most, full_at)
    values (
        p_noted.consumer_id, p_noted.claim_no, p_noted.claimed_at, p_noted.whole, p_noted.msg_ids || p_ids,
        p_noted.at_most + v_n, p_noted.full_at + make_interval(secs => coalesce(p_every, 0) * v_n));
    if p_noted.whole then
        delete from core_private.limited_claims c
         where c.consumer_id = p_noted.consumer_id and c.claim_no < p_noted.claim_no
           and c.claim_no >= (
               select w.claim_no
                 from core_private.limited_claims w
                where w.consumer_id = p_noted.consumer_id and w.claim_no < p_noted.claim_no and w.whole
                order by w.claim_no desc limit 1);
    end if;
end $$;
comment on function core_private.note_claim(core_private.limited_claims, double precision, bigint[]) is 'Notes what a limited consumer leases.';
