create or replace function core_private.own_partitions()
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_relation regclass;
    v_n        integer := 0;
begin
    for v_relation in
        select p.relation
          from core_private.log_partitions() p
         where p.owner <> current_user and pg_has_role(current_user, p.owner, 'usage')
    loop
        execute format('alter table %s owner to %I', v_relation, current_user);
        v_n := v_n + 1;
    end loop;
    return v_n;
end $$;
comment on function core_private.own_partitions() is 'Takes back partitions of roles that nexus_owner is a member of; returns how many.';
