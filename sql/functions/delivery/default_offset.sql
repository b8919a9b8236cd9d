create or replace function core_private.default_offset(p_namespace text, p_priority integer)
returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select core_private.level_offset(c.levels, p_priority)
      from core.consumers c
     where c.namespace = p_namespace and c.name = 'default'
$$;
comment on function core_private.default_offset(text, integer) is 'core_private.level_offset for the consumer default.';
