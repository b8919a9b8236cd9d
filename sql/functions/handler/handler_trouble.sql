-- An explicit grant, since EXECUTE of PUBLIC says nothing about events. The mend is what a psql user runs as the owner.
create or replace function core_private.handler_trouble(
    p_function text, p_owner oid, p_namespace text = null, out what text, out mend text)
returns record
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_proc record;
begin
    select p.*, n.nspname, p.oid::regprocedure::text as called
      into v_proc
      from pg_proc p
      join pg_namespace n on n.oid = p.pronamespace
     where p.oid = core_private.handler_oid(p_function);
    if not found then
        what := format('the function %s is gone', p_function);
        mend := format('Create it again as %s, or core.unsubscribe.', p_owner::regrole);
    elsif v_proc.proowner <> p_owner then
        what := format('the function %s belongs to %s, and was subscribed as one of %s',
                       v_proc.called, v_proc.proowner::regrole, p_owner::regrole);
        mend := 'core.unsubscribe, and core.subscribe as its owner.';
    elsif v_proc.prokind <> 'f' or v_proc.proretset then
        what := format('%s is not a plain function', v_proc.called);
        mend := 'Give a function (jsonb) that returns void or one value.';
    elsif v_proc.nspname in ('pg_catalog', 'core', 'core_node', 'core_private') or v_proc.nspname ^@ 'pg_temp_'
          or v_proc.proowner::regrole::text in ('nexus_owner', 'nexus_scheduler', 'nexus_guard', 'nexus_sql') then
        what := format('%s is no function of an application', v_proc.called);
        mend := 'Give a function in a schema of yours.';
    elsif not v_proc.prosecdef then
        what := format('the function %s is not SECURITY DEFINER', v_proc.called);
        mend := format('alter function %s security definer;', v_proc.called);
    elsif not exists (select from unnest(v_proc.proconfig) c where c ^@ 'search_path=') then
        what := format('the function %s has no search_path of its own', v_proc.called);
        mend := format('alter function %s set %s = %I, pg_temp;', v_proc.called, 'search_path', v_proc.nspname);
    elsif not exists (
              select
                from aclexplode(v_proc.proacl) a
               where a.grantee = 'nexus_guard'::regrole and a.privilege_type = 'EXECUTE') then
        what := format('nexus_guard may not execute the function %s', v_proc.called);
        mend := format('grant execute on function %s to nexus_guard;', v_proc.called);
    elsif not has_schema_privilege('nexus_guard', v_proc.pronamespace, 'usage') then
        what := format('nexus_guard may not use the schema %I', v_proc.nspname);
        mend := format('grant usage on schema %I to nexus_guard;', v_proc.nspname);
    elsif p_namespace is not null and not core_private.has_duty(
                  p_namespace, 'consume', (select n.restricted from core.namespaces n where n.namespace = p_namespace),
                  pg_get_userbyid(p_owner)) then
        what := format('role %s, which owns the function, may not consume here', p_owner::regrole);
        mend := case when pg_has_role(p_owner, 'nexus_consumer', 'member')
                     then format('select core.grant_namespace(%L, %L, ''consume'');', p_namespace, p_owner::regrole)
                     else format('grant nexus_consumer to %s;', p_owner::regrole) end;
    end if;
end $$;
comment on function core_private.handler_trouble(text, oid, text) is 'Why an SQL handler that was subscribed as a function of that owner may not be called, in a namespace if one is given, and what mends it; NULL if it may. What it reads, anybody may read in the catalog.';
