-- Values are for those who may read the namespace; others learn which options differ.
create or replace function core_private.check_same_options(p_namespace text, p_options jsonb)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_differ record;
    v_reads  boolean;
    v_admin  boolean := pg_has_role(core_private.caller(), 'nexus_admin', 'member');
begin
    select * into v_differ from core_private.differing_namespace_options(p_namespace, p_options);
    if v_differ.said is null then
        return;
    end if;
    select core_private.has_duty(p_namespace, 'read', n.restricted)
      into v_reads
      from core.namespaces n
     where n.namespace = p_namespace;
    raise exception using errcode = 'NX201', column = 'p_options',
        message = format('namespace %s exists with other options: %s',
            quote_literal(p_namespace), case when v_reads then v_differ.said else v_differ.named end),
        hint = format('Leave out what you have no opinion about, or %s: select core.alter_namespace(%L, %L);',
            case when v_admin then 'change it' else 'have it changed by ' || core_private.administrators() end,
            p_namespace, v_differ.change);
end $$;
comment on function core_private.check_same_options(text, jsonb) is 'Raises NX201 if options that are given are not those of the namespace.';
