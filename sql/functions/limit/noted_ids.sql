-- From the newest row back to the last whole one. What was deleted before that is not passed over, which matters while
-- somebody holds back vacuum. What was released and claimed again is noted twice.
create or replace function core_private.noted_ids(p_consumer_id integer)
returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
begin
    return array(
        select distinct i.id
          from core_private.limited_claims c
         cross join lateral unnest(c.msg_ids) i (id)
         where c.consumer_id = p_consumer_id
           and c.claim_no >= (
               select w.claim_no
                 from core_private.limited_claims w
                where w.consumer_id = p_consumer_id and w.whole
                order by w.claim_no desc limit 1));
end $$;
comment on function core_private.noted_ids(integer) is 'What a limited consumer claimed, as far as it may still be in flight.';
