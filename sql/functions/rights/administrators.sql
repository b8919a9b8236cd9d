create or replace function core_private.administrators()
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_names text[] := array(
        select quote_ident(r.rolname)
          from pg_roles r
         where r.rolcanlogin and not r.rolsuper and pg_has_role(r.oid, 'nexus_admin', 'member')
         order by r.rolname
         limit 6);
begin
    return 'members of nexus_admin'
        || case when v_names = '{}' then ', of which there is none yet, or a superuser'
                else format(' (%s%s)', array_to_string(v_names[:5], ', '),
                            case when cardinality(v_names) > 5 then ', …' else '' end) end;
end $$;
comment on function core_private.administrators() is 'Who administers Nexus here, in words: the logins, up to five.';
