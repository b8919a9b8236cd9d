-- Bounded before and after the jitter: the exponent is cut at 60 doublings, so nothing can overflow,
-- and no result lies above max, which is never less than base: a base of an hour beside the max of
-- somebody who did not think of it, or nobody's, means an hour. A policy is looked at closely only if
-- something is amiss: settle, which asks for each failure, has checked its own.
create or replace function core_node.retry_delay(
    p_policy jsonb, p_attempt integer, p_random double precision = random())
returns interval
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_policy jsonb := coalesce(p_policy, '{}');
    v_base   double precision;
    v_max    double precision;
    v_jitter double precision;
    v_n      integer := greatest(p_attempt, 1);
    v_delay  double precision;
begin
    if jsonb_typeof(v_policy) <> 'object'
       or v_policy - '{max_attempts,shape,base,max,jitter}'::text[] <> '{}'
       or coalesce(v_policy ->> 'shape', '') not in ('', 'exponential', 'linear', 'constant')
       or coalesce(jsonb_typeof(v_policy -> 'jitter'), 'number') <> 'number'
       or coalesce((v_policy ->> 'jitter')::numeric, 0) not between 0 and 1 then
        perform core_private.check_policy(v_policy, 'p_policy');
    end if;
    v_base := extract(epoch from core_private.parse_interval(
        coalesce(v_policy -> 'base', core_private.retry_defaults() -> 'base'), 'p_policy.base', '0', '30 days'));
    v_max := greatest(v_base, extract(epoch from core_private.parse_interval(
        coalesce(v_policy -> 'max', core_private.retry_defaults() -> 'max'), 'p_policy.max', '0', '30 days')));
    v_jitter := coalesce((v_policy ->> 'jitter')::double precision,
                         (core_private.retry_defaults() ->> 'jitter')::double precision);
    v_delay := case coalesce(v_policy ->> 'shape', core_private.retry_defaults() ->> 'shape')
        when 'constant' then v_base
        when 'linear' then v_base * v_n
        else v_base * power(2::double precision, least(v_n - 1, 60)) end;
    v_delay := least(v_delay, v_max);
    v_delay := v_delay * (1 + v_jitter * (2 * least(greatest(p_random, 0), 1) - 1));
    return make_interval(secs => least(greatest(v_delay, 0), v_max));
end $$;
comment on function core_node.retry_delay(jsonb, integer, double precision) is 'The wait after failed attempt number p_attempt under a policy {max_attempts, shape, base, max, jitter}; between 0 and max, or base if that is more. Defaults: exponential, 1 s, 5 min, 0.2. Raises NX005, NX007.';
