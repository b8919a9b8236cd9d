create or replace function core_private.register_sweep(
    p_name text, p_function text, p_every interval, p_driven_by text, p_position integer)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
    insert into core_private.sweeps as s (name, function, every, driven_by, position)
    values (p_name, p_function, p_every, p_driven_by, p_position)
    on conflict (name) do update
       set function = excluded.function, every = excluded.every,
           driven_by = excluded.driven_by, position = excluded.position
     where (s.function, s.every, s.driven_by, s.position)
        is distinct from (excluded.function, excluded.every, excluded.driven_by, excluded.position)
$$;
comment on function core_private.register_sweep(text, text, interval, text, integer) is 'Makes a call part of core.tick().';
