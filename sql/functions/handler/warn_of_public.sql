create or replace function core_private.warn_of_public(p_function oid)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if exists (
           select
             from pg_proc p
            cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
            where p.oid = p_function and a.grantee = 0) then
        raise warning using message = format('everybody may call the function %s', p_function::regprocedure),
            hint = format('revoke execute on function %s from public;', p_function::regprocedure);
    end if;
end $$;
comment on function core_private.warn_of_public(oid) is 'Warns where everybody may call a function that handles events.';
