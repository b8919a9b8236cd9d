-- A retry policy is merged, not replaced: who changes one key has no opinion about the others. A key that is null goes
-- back to its default.
create or replace function core.alter_namespace(p_namespace text, p_options jsonb)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_options jsonb := p_options;
    v_retry   jsonb := p_options -> 'retry';
    v_back    text[];
    v_policy  jsonb;
    v_before  jsonb;
begin
    perform core_private.require_admin(p_namespace);
    if jsonb_typeof(v_retry) = 'object' then
        v_back := array(
            select r.key
              from jsonb_each(v_retry) r
             where r.value = 'null' and core_private.retry_defaults() ? r.key);
        v_retry := v_retry - v_back;
        perform core_private.check_namespace_options(jsonb_set(p_options, '{retry}', v_retry));
        select (n.retry - v_back) || v_retry
          into v_policy
          from core.namespaces n
         where n.namespace = p_namespace
           for no key update;
        v_options := jsonb_set(p_options, '{retry}', v_policy);
    end if;
    perform core_private.check_namespace_options(v_options);
    select to_jsonb(n) - 'options'
      into v_before
      from core.namespaces n
     where n.namespace = p_namespace
       for no key update;
    update core.namespaces n set options = n.options || v_options where n.namespace = p_namespace;
    perform core_private.apply_namespace_options(p_namespace, v_options);
    perform core_private.audit_change('alter_namespace', p_namespace, null, v_before, to_jsonb(n) - 'options')
       from core.namespaces n
      where n.namespace = p_namespace;
    if p_options ? 'restricted' then
        perform core_private.grant_queues(p_namespace);
    end if;
end $$;
comment on function core.alter_namespace(text, jsonb) is 'Replaces the options given and keeps the others, in a retry policy also the keys that are not given; a key of it that is null takes its default again. Raises NX004, NX005, NX007, NX101, NX401.';
