-- By look-up and not by comparison: few patterns can match a type. The last one is the mark of its first part, which
-- no pattern is: it stands for patterns that are too many to be listed.
create or replace function core_private.patterns_of(p_event_type text)
returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_patterns text[]  := array['*', p_event_type];
    v_at       integer := 0;
    v_n        integer;
begin
    loop
        v_n := strpos(translate(substr(p_event_type, v_at + 1), ':', '.'), '.');
        exit when v_n = 0;
        v_at := v_at + v_n;
        v_patterns := v_patterns || (left(p_event_type, v_at) || '*');
    end loop;
    return v_patterns || core_private.first_part(p_event_type);
end $$;
comment on function core_private.patterns_of(text) is 'Every pattern that matches an event type, as core_private.matches has it, and core_private.first_part of it.';
