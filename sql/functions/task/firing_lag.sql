-- pg_cron fires at the latest a minute after the due time; what is older was forgotten.
create or replace function core_private.firing_lag(p_scheduler text)
returns interval
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select case when p_scheduler = 'pg_cron' and session_user <> 'nexus_scheduler'
                then interval '90 seconds'
                else interval '0' end
$$;
comment on function core_private.firing_lag(text) is 'How long the session leaves due tasks to pg_cron, under that setting of scheduler.';
