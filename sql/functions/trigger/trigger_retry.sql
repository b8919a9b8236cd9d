-- Kept with the trigger, so that defaults which change later change nothing.
create or replace function core_private.trigger_retry(
    p_retry jsonb, p_defaults jsonb,
    out max_attempts integer, out backoff text, out base_ms bigint, out max_ms bigint, out jitter float8)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_policy jsonb;
begin
    if jsonb_typeof(p_retry) is distinct from 'object' then
        perform core_private.fail_option('retry', p_retry, 'Give an object: max_attempts, shape, base, max, jitter.');
    end if;
    perform core_private.check_policy(p_retry, 'retry');
    v_policy := p_defaults || p_retry;
    max_attempts := (v_policy ->> 'max_attempts')::integer;
    backoff := v_policy ->> 'shape';
    base_ms := (extract(epoch from (v_policy ->> 'base')::interval) * 1000)::bigint;
    max_ms := greatest(base_ms, (extract(epoch from (v_policy ->> 'max')::interval) * 1000)::bigint);
    jitter := (v_policy ->> 'jitter')::float8;
end $$;
comment on function core_private.trigger_retry(jsonb, jsonb) is 'The retry policy of a trigger, with what is not given from p_defaults. Raises NX005, NX007.';
