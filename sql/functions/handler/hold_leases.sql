-- Claims lock for a moment what they then find to be leased. They are waited for, since a lease that is passed over
-- would have to end first.
create or replace function core_private.hold_leases(
    p_relation text, p_ids bigint[], p_cts integer[], p_ats timestamptz[])
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
    v_held bigint[];
begin
    execute format($q$
        select coalesce(array_agg(l.msg_id), '{}')
          from (select q.msg_id
                  from (select x.* from unnest($1, $2, $3) x(id, ct, at) order by x.id) u
                  join %s q on q.msg_id = u.id and q.read_ct = u.ct and q.last_read_at = u.at
                   for update of q) l
        $q$, p_relation)
       into v_held
      using p_ids, p_cts, p_ats;
    return v_held;
end $$;
comment on function core_private.hold_leases(text, bigint[], integer[], timestamptz[]) is 'Locks the messages whose leases still hold until the transaction ends, and returns their ids.';
