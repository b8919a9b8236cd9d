create or replace function core_private.cron_grammar(p_field text)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select 'Use *, */N, or a comma list of V, V-V and V-V/N, where V is ' || case p_field
        when 'minute' then '0-59.'
        when 'hour' then '0-23.'
        when 'day' then '1-31.'
        when 'month' then '1-12 or jan-dec.'
        else '0-7 or sun-sat.' end
$$;
comment on function core_private.cron_grammar(text) is 'What a field of a cron expression may hold, for hints.';
