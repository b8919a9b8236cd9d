create or replace function core_private.filter_key(p_filter jsonb)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(
        (select core_private.scalar_key(e.key, e.value)
           from jsonb_each(p_filter) e
          where jsonb_typeof(e.value) not in ('object', 'array')
          order by e.key limit 1), '')
$$;
comment on function core_private.filter_key(jsonb) is 'One scalar of a filter, by which it is looked up; empty if it has none.';
