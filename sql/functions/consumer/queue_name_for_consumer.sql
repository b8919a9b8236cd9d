-- pgmq takes 47 bytes, of which the suffix of a dead-letter queue needs 4.
create or replace function core_private.queue_name_for_consumer(p_namespace text, p_consumer text)
returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_name text := core.queue_name_for_namespace(p_namespace);
begin
    if p_consumer = 'default' then
        return v_name;
    end if;
    v_name := v_name || '__' || replace(p_consumer, '-', '_');
    return case when octet_length(v_name) <= 43 then v_name
                else left(v_name, 34) || '_' || left(md5(v_name), 8) end;
end $$;
comment on function core_private.queue_name_for_consumer(text, text) is 'The queue of a consumer by rule, shortened with a hash where it would be longer than 43 bytes. Raises NX001.';
