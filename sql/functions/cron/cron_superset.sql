-- pg_cron knows one zone, UTC. The job comes at least as often as the task, and core.run_scheduled_task knows whether
-- it is time.
create or replace function core_private.cron_superset(p_expression text, p_timezone text)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select case
        when p_expression like '@%' then '* * * * *'
        when p_timezone in ('UTC', 'Etc/UTC', 'GMT', 'Etc/GMT') then p_expression
        when exists (
                 select from generate_series(0, 12) m
                  cross join lateral (select now() + make_interval(months => m) as t) x
                  where extract(minute from x.t at time zone p_timezone)
                        <> extract(minute from x.t at time zone 'UTC'))
        then '* * * * *'
        else split_part(p_expression, ' ', 1) || ' * * * *' end
$$;
comment on function core_private.cron_superset(text, text) is 'A schedule for pg_cron that comes whenever the task may be due.';
