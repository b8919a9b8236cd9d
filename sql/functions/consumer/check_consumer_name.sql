create or replace function core_private.check_consumer_name(p_consumer text)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.check_namespace_name(p_consumer, 'NX008', 'p_consumer');
    if p_consumer = 'default' then
        raise exception using errcode = 'NX008', column = 'p_consumer',
            message = 'consumer ''default'' is there with its namespace',
            hint = 'Choose another name; whether a namespace uses "default" is its option default_consumer.';
    end if;
end $$;
comment on function core_private.check_consumer_name(text) is 'Raises NX008 unless it can be the name of a named consumer.';
