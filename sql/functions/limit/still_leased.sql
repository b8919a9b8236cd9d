-- Each is looked up by its id: what waits far ahead or is due, in any number, costs nothing here.
create or replace function core_private.still_leased(p_queue text, p_ids bigint[], p_now timestamptz)
returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
    v_ids bigint[];
begin
    execute format($q$
        select coalesce(array_agg(q.msg_id), '{}')
          from unnest($1) u (id)
          join %s q on q.msg_id = u.id
         where q.vt > $2 and core_private.is_leased(q.vt, q.read_ct, q.headers)
        $q$, core_private.queue_relation(p_queue))
       into v_ids
      using p_ids, p_now;
    return v_ids;
end $$;
comment on function core_private.still_leased(text, bigint[], timestamptz) is 'Those of the messages that are in flight.';
