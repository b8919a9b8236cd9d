create or replace function core_private.lane_of(p_lanes integer[], p_key text, p_id bigint)
returns integer
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return p_lanes[1 + coalesce(core_private.lane_of_key(p_key, cardinality(p_lanes)),
                                (p_id % cardinality(p_lanes))::integer)];
end $$;
comment on function core_private.lane_of(integer[], text, bigint) is 'Which of these lanes a message goes to: by its key, and without one by its number.';
