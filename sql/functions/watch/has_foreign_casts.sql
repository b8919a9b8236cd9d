-- to_jsonb calls a cast from a type to json where there is one, of an enum too, as whoever calls to_jsonb. Extensions
-- make such casts as a superuser; others could have their code run as the owner of Nexus.
create or replace function core_private.has_foreign_casts(p_type oid = null)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return exists (
        select
          from pg_cast c
          join pg_proc p on p.oid = c.castfunc
          join pg_roles r on r.oid = p.proowner
         where c.oid >= 16384 and c.casttarget = 'json'::regtype and not r.rolsuper
           and (p_type is null or c.castsource = p_type));
end $$;
comment on function core_private.has_foreign_casts(oid) is 'Whether a cast to json, from that type or from any, calls a function that is not a superuser''s.';
