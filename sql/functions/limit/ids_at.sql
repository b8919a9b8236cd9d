create or replace function core_private.ids_at(p_queue text, p_tids tid[])
returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_ids bigint[];
begin
    execute format('select array_agg(q.msg_id) from %s q where q.ctid = any ($1)', core_private.queue_relation(p_queue))
       into v_ids
      using p_tids;
    return v_ids;
end $$;
comment on function core_private.ids_at(text, tid[]) is 'The ids of messages that the caller has locked, by their places.';
