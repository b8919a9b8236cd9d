-- Not by to_regprocedure, for which nexus_owner would need the use of the application's schema. Written as regprocedure
-- shows it, with one argument.
create or replace function core_private.handler_oid(p_function text)
returns oid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_name text[];
begin
    if right(p_function, 7) <> '(jsonb)' then
        return null;
    end if;
    v_name := parse_ident(left(p_function, -7));
    return (select p.oid
              from pg_proc p
              join pg_namespace n on n.oid = p.pronamespace
             where p.proname = v_name[2] and n.nspname = v_name[1]
               and p.pronargs = 1 and p.proargtypes[0] = 'jsonb'::regtype);
end $$;
comment on function core_private.handler_oid(text) is 'The function of that name as it is now; NULL if there is none.';
