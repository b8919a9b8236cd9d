create or replace function core_private.check_claim(
    p_queue text, p_consumer_id integer, p_types text[], p_max_attempts integer[], p_limit integer, p_least integer)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_consumer_id is null then
        raise exception using errcode = 'NX006', column = 'p_queue',
            message = format('%s is a dead-letter queue', quote_literal(p_queue)),
            hint = 'Replay dead letters with core.replay_dead_letters.';
    elsif p_limit is null or p_limit not between p_least and 10000 then
        raise exception using errcode = 'NX006', column = 'p_limit',
            message = format('p_limit cannot be %s', coalesce(p_limit::text, 'NULL')),
            hint = format('It lies in %s to 10000.', p_least);
    elsif cardinality(p_types) is distinct from cardinality(p_max_attempts) then
        raise exception using errcode = 'NX006', column = 'p_max_attempts',
            message = 'p_max_attempts is not as long as p_types',
            hint = 'Give one number for each pattern: 0 for the consumer''s, -1 for never.';
    end if;
end $$;
comment on function core_private.check_claim(text, integer, text[], integer[], integer, integer) is 'Checks arguments that claims have in common. Raises NX006.';
