-- In PL/pgSQL, whose plan is kept: each call of a function for nodes or emitters asks.
create or replace function core_private.duty_role(p_duty text)
returns name
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    return case p_duty when 'produce' then 'nexus_producer' when 'consume' then 'nexus_consumer'
                   when 'operate' then 'nexus_operator' when 'read' then 'nexus_reader' end::name;
end $$;
comment on function core_private.duty_role(text) is 'The role that carries a duty.';
