-- Most batches are of one type: that takes a comparison, where DISTINCT would sort them.
create or replace function core_private.distinct_types(p_event_types text[])
returns text[]
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_first integer := array_lower(p_event_types, 1);
begin
    if cardinality(p_event_types) > 0 then
        if p_event_types = array_fill(p_event_types[v_first], array[cardinality(p_event_types)], array[v_first]) then
            return p_event_types[v_first:v_first];
        end if;
    end if;
    return array(select distinct t from unnest(p_event_types) t);
end $$;
comment on function core_private.distinct_types(text[]) is 'Each event type of a batch once.';
