create or replace function core_private.register_sweeps(p_name text = null)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
    select core_private.register_sweep(w.name, w.function, w.every, w.driven_by, w.position)
      from core_private.wanted_sweeps() w where p_name is null or w.name = p_name
$$;
comment on function core_private.register_sweeps(text) is 'Registers all sweeps, or the one of that name, as they have to be; whether one is enabled stays.';
