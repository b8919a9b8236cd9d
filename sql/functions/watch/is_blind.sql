-- By the types of its columns and by all that they are made of, since to_jsonb goes down into arrays and rows.
create or replace function core_private.is_blind(p_relation oid)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if not core_private.has_foreign_casts() then
        return false;
    end if;
    return exists (
        with recursive parts as (
            select a.atttypid as type
              from pg_attribute a
             where a.attrelid = p_relation and a.attnum > 0 and not a.attisdropped and a.atttypid >= 16384
             union
            select u.type
              from parts p
              join pg_type t on t.oid = p.type
              left join pg_attribute a
                on t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
             cross join unnest(array[t.typbasetype, t.typelem, a.atttypid]) u(type)
             where u.type >= 16384)
        select
          from parts p
         where core_private.has_foreign_casts(p.type));
end $$;
comment on function core_private.is_blind(oid) is 'Whether to_jsonb of a row of that table might run a function of somebody''s.';
