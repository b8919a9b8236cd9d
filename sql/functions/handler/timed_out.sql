create or replace function core_private.timed_out()
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
    select current_setting('statement_timeout')::interval > interval '0'
           and clock_timestamp() - statement_timestamp() >= current_setting('statement_timeout')::interval
$$;
comment on function core_private.timed_out() is 'Whether the running statement has reached its statement_timeout.';
