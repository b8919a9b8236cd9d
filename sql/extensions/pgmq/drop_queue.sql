create or replace function core_private.drop_queue(p_queue text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if to_regclass(core_private.queue_relation(p_queue)) is not null then
        perform pgmq.drop_queue(p_queue);
    end if;
end $$;
comment on function core_private.drop_queue(text) is 'Drops the pgmq queue, if it is there.';
