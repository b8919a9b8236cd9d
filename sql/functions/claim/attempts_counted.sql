-- A read that nobody answered was a death. It counts if the message was alone then; whatever was in
-- company is given that read back, since its neighbour may have been to blame. nexus-alone is the
-- read_ct of the last claim that took it alone, nexus-deaths what was counted before.
create or replace function core_private.attempts_counted(p_read_ct integer, p_headers jsonb)
returns integer
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select case when m.attempts > m.failures + m.deaths
                then (m.failures + m.deaths)::integer + coalesce((m.alone = p_read_ct)::integer, 0)
                else m.attempts end
      from (select core_private.attempt_of(p_read_ct, p_headers) as attempts,
                   coalesce(core_private.header_number(p_headers, 'nexus-failures'), 0) as failures,
                   coalesce(core_private.header_number(p_headers, 'nexus-deaths'), 0) as deaths,
                   core_private.header_number(p_headers, 'nexus-alone') as alone) m
$$;
comment on function core_private.attempts_counted(integer, jsonb) is 'The attempts of a message that is not in flight: its failures, and the deaths of processes that had it alone.';
