create or replace function core_private.remove_copies(p_queue text, p_msg_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if to_regclass(core_private.queue_relation(p_queue)) is not null then
        execute format('delete from %s q where q.msg_id = any ($1)', core_private.queue_relation(p_queue))
        using p_msg_ids;
    end if;
end $$;
comment on function core_private.remove_copies(text, bigint[]) is 'Removes copies from a dead-letter queue; one that is missing, and a queue that is, are no error.';
