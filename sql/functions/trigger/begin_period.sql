create or replace function core_private.begin_period(p_trigger_id uuid, p_namespace text, p_fires boolean)
returns bigint
language sql
set search_path = pg_catalog, pg_temp
as $$
    insert into core_private.trigger_periods (trigger_id, generation, fires)
    values (p_trigger_id, core_private.raise_trigger_generation(p_namespace), p_fires)
    returning generation
$$;
comment on function core_private.begin_period(uuid, text, boolean) is 'Notes that a trigger makes deliveries from now on, or none; returns the generation that this begins.';
