create or replace function core_private.attempts_for(
    p_event_type text, p_types text[], p_max_attempts integer[], p_default integer)
returns integer
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(
        (select nullif(u.m, 0)
           from unnest(p_types, p_max_attempts) with ordinality u(t, m, n)
          where core_private.matches(u.t, p_event_type)
          order by nullif(u.m, 0) is null, u.n
          limit 1),
        p_default)
$$;
comment on function core_private.attempts_for(text, text[], integer[], integer) is 'The attempts that the first pattern which matches and says so allows, else p_default; -1: any number.';
