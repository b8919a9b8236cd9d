create or replace function core_private.drop_queue(p_queue text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '10s'
set standard_conforming_strings = on
as $$
begin
    if to_regclass(core_private.queue_relation(p_queue)) is not null then
        perform pgmq.drop_queue(p_queue);
    end if;
    if core_private.missing_parts(p_queue) @> '{queue}' then
        -- pgmq leaves the rest of a queue that has lost its table.
        execute format('drop table if exists pgmq.%I', 'a_' || p_queue);
        delete from pgmq.meta m where m.queue_name = p_queue;
    end if;
end $$;
comment on function core_private.drop_queue(text) is 'Drops the pgmq queue, or what is left of it.';
