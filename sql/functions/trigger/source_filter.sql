create or replace function core_private.source_filter(p_source jsonb)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_filter jsonb := p_source -> 'contains';
begin
    if jsonb_typeof(v_filter) <> 'object' or octet_length(v_filter::text) > 8000 then
        perform core_private.fail_trigger('contains', format('contains cannot be %s', left(v_filter::text, 200)),
            'Give an object of at most 8000 bytes that has to be contained.');
    end if;
    return case when v_filter <> '{}' then jsonb_build_object('contains', v_filter) else '{}' end;
end $$;
comment on function core_private.source_filter(jsonb) is 'What the source of a trigger has in contains, as a member to be kept; {} if it asks for nothing. Raises NX014.';
