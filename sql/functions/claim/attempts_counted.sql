-- A read that nobody answered was a death. It counts if the message was alone then; whatever was in
-- company is given that read back, since its neighbour may have been to blame. nexus-alone is the
-- read_ct of the last claim that took it alone, nexus-deaths what was counted before. In PL/pgSQL, whose
-- plan is kept.
create or replace function core_private.attempts_counted(p_read_ct integer, p_headers jsonb)
returns integer
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_attempts integer := core_private.attempt_of(p_read_ct, p_headers);
    v_answered bigint  := coalesce(core_private.header_number(p_headers, 'nexus-failures'), 0)
                          + coalesce(core_private.header_number(p_headers, 'nexus-deaths'), 0);
begin
    if v_attempts <= v_answered then
        return v_attempts;
    end if;
    return v_answered::integer
           + coalesce((core_private.header_number(p_headers, 'nexus-alone') = p_read_ct)::integer, 0);
end $$;
comment on function core_private.attempts_counted(integer, jsonb) is 'The attempts of a message that is not in flight: its failures, and the deaths of processes that had it alone.';
