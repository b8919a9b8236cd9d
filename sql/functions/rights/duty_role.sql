create or replace function core_private.duty_role(p_duty text)
returns name
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select case p_duty when 'produce' then 'nexus_producer' when 'consume' then 'nexus_consumer'
                   when 'operate' then 'nexus_operator' when 'read' then 'nexus_reader' end::name
$$;
comment on function core_private.duty_role(text) is 'The role that carries a duty.';
