-- Asked of messages that were read before and came back without an answer. One attempt means at most
-- once: there a death counts in any company. In PL/pgSQL, whose plan is kept.
create or replace function core_private.attempts_used_up(
    p_read_ct integer, p_headers jsonb, p_event_type text, p_types text[], p_max_attempts integer[], p_default integer)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_max integer := coalesce(
        case when p_headers ? 'nexus-retry'
             then (core_private.header_policy(p_headers) ->> 'max_attempts')::integer end,
        (select nullif(u.m, 0)
           from unnest(p_types, p_max_attempts) with ordinality u(t, m, n)
          where core_private.matches(u.t, p_event_type) and u.m <> 0
          order by u.n limit 1),
        p_default);
begin
    return v_max > 0
           and case v_max when 1 then core_private.attempt_of(p_read_ct, p_headers)
                    else core_private.attempts_counted(p_read_ct, p_headers) end >= v_max;
end $$;
comment on function core_private.attempts_used_up(integer, jsonb, text, text[], integer[], integer) is 'Whether a message has no attempt left, by the first handler that matches and says so, else by the default given.';
