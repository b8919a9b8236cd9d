create or replace function core_private.all_leased(p_queue text, p_now timestamptz)
returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
    v_ids bigint[];
begin
    execute format($q$
        select coalesce(array_agg(q.msg_id), '{}')
          from %s q
         where q.vt > $1 and core_private.is_leased(q.vt, q.read_ct, q.headers)
        $q$, core_private.queue_relation(p_queue))
       into v_ids
      using p_now;
    return v_ids;
end $$;
comment on function core_private.all_leased(text, timestamptz) is 'All messages of a queue that are in flight, whoever claimed them.';
