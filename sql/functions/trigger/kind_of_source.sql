create or replace function core_private.kind_of_source(p_source jsonb)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select k.kind
      from core_private.trigger_kinds() k
     where case when jsonb_typeof(p_source -> k.kind) = 'object' then p_source - k.kind = '{}' end
$$;
comment on function core_private.kind_of_source(jsonb) is 'The kind of a source that has one; NULL for what is no source.';
