-- By look-up and not by comparison: few patterns can match a type. The last one no pattern is: it stands for patterns
-- that are too many to be listed.
create or replace function core_private.patterns_of(p_event_type text)
returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_dots     text    := translate(p_event_type, ':', '.');
    v_patterns text[]  := array['*', p_event_type, '>'];
    v_at       integer := strpos(v_dots, '.');
begin
    while v_at > 0 loop
        v_patterns := v_patterns || (left(p_event_type, v_at) || '*');
        v_dots := overlay(v_dots placing '-' from v_at);
        v_at := strpos(v_dots, '.');
    end loop;
    return v_patterns;
end $$;
comment on function core_private.patterns_of(text) is 'Every pattern that matches an event type, as core_private.matches has it, and >.';
