create or replace function core_private.act_for(p_owner oid)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    delete from core_private.sql_transactions t where t.xact_id = pg_current_xact_id();
    if p_owner is not null then
        insert into core_private.sql_transactions (xact_id, owner) values (pg_current_xact_id(), p_owner::regrole);
    end if;
end $$;
comment on function core_private.act_for(oid) is 'From here on this transaction of nexus_sql acts for that role; NULL: for nobody.';
