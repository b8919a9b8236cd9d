-- Bounded before and after the jitter: the exponent is cut at 60 doublings, so nothing can overflow, and no result lies above max.
create or replace function core.retry_delay(p_policy jsonb, p_attempt integer, p_random double precision = random())
returns interval
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_base   double precision := extract(epoch from core_private.parse_interval(coalesce(p_policy -> 'base', '"1s"'), 'retry.base', '0', '30 days'));
    v_max    double precision := extract(epoch from core_private.parse_interval(coalesce(p_policy -> 'max', '"5 min"'), 'retry.max', '0', '30 days'));
    v_jitter double precision := coalesce((p_policy ->> 'jitter')::double precision, 0.2);
    v_n      integer := greatest(p_attempt, 1);
    v_delay  double precision;
begin
    v_delay := case coalesce(p_policy ->> 'shape', 'exponential')
        when 'constant' then v_base
        when 'linear' then v_base * v_n
        else v_base * power(2::double precision, least(v_n - 1, 60)) end;
    v_delay := least(v_delay, v_max);
    v_delay := v_delay * (1 + v_jitter * (2 * least(greatest(p_random, 0), 1) - 1));
    return make_interval(secs => least(greatest(v_delay, 0), v_max));
end $$;
comment on function core.retry_delay(jsonb, integer, double precision) is 'The wait after failed attempt number p_attempt under a policy {max_attempts, shape, base, max, jitter}; between 0 and max. Defaults: exponential, 1 s, 5 min, 0.2.';
