create or replace function core_private.check_patterns(p_patterns text[])
returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if cardinality(p_patterns) between 1 and 1000 is not true or array_ndims(p_patterns) <> 1 then
        raise exception using errcode = 'NX008', column = 'p_patterns',
            message = case when coalesce(cardinality(p_patterns), 0) = 0 then 'p_patterns is empty'
                           else format('p_patterns has %s elements', cardinality(p_patterns)) end,
            hint = 'Give 1 to 1000 patterns: event types, "prefix.*", "prefix:*" or "*".';
    end if;
    perform core_private.check_pattern(p, 'p_patterns') from unnest(p_patterns) p;
    return array(select distinct p collate "C" from unnest(p_patterns) p order by 1);
end $$;
comment on function core_private.check_patterns(text[]) is 'The patterns, each once and sorted. Raises NX008.';
