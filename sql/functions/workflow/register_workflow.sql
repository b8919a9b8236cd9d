-- A function that undoes a step runs as its owner with what runs of this workflow hold, so only who is in the role of
-- the owner registers it.
create or replace function core_node.register_workflow(
    p_namespace text, p_name text, p_version integer, p_steps jsonb, p_options jsonb = '{}')
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set quote_all_identifiers = off
set jit = off
as $$
declare
    v_now         timestamptz := core_private.now();
    v_hashes      text[];
    v_concurrency integer;
    v_id          bigint;
    v_step        record;
    v_function    oid;
    v_owner       oid;
    v_undos       text[] := '{}';
    v_owners      oid[] := '{}';
    v_functions   text[] := '{}';
begin
    perform core_private.require_duty(p_namespace, 'consume');
    perform core_private.check_workflow(p_name, p_version, p_steps);
    perform core_private.check_option_keys(p_options, '{concurrency}');
    if p_options ? 'concurrency' then
        if not coalesce(jsonb_path_exists(p_options,
               'strict $.concurrency ? (@.type() == "number" && @ >= 1 && @ <= 1000000 && @.floor() == @)'), false) then
            perform core_private.fail_option('concurrency', p_options -> 'concurrency', 'Give 1 to 1000000.');
        end if;
        v_concurrency := (p_options ->> 'concurrency')::integer;
    end if;
    for v_step in
        select n.name, n.node ->> 'function' as function
          from core_private.workflow_nodes(p_steps) n
         where n.node ->> 'undo' = 'sql'
    loop
        begin
            v_function := core_private.handler_oid(v_step.function);
        exception when others then
            v_function := null;
        end;
        if v_function is null then
            perform core_private.fail_workflow(
                format('there is no function %s to undo step %s',
                       quote_nullable(left(v_step.function, 200)), v_step.name),
                'Give its name and argument as schema.name(jsonb).');
        end if;
        v_owner := core_private.check_sql_handler(p_namespace, v_function, 'p_steps');
        v_undos := v_undos || v_step.name;
        v_owners := v_owners || v_owner;
        v_functions := v_functions || v_function::regprocedure::text;
    end loop;
    v_hashes := core_private.prefix_hashes(p_name, p_steps);
    -- The limit is one of the workflow, so the forms of before have it, too; who registers beside this one waits.
    perform
       from core_private.workflow_definitions d
      where d.namespace = p_namespace and d.name = p_name
      order by d.def_id
        for no key update;
    update core_private.workflow_definitions d
       set concurrency = v_concurrency
     where d.namespace = p_namespace and d.name = p_name and d.concurrency is distinct from v_concurrency;
    insert into core_private.workflow_definitions as d (
        namespace, name, version, hash, prefix_hashes, steps, concurrency, created_at, last_registered_at)
    values (
        p_namespace, p_name, p_version, v_hashes[cardinality(v_hashes)], v_hashes, p_steps, v_concurrency, v_now, v_now)
    on conflict (namespace, name, hash, version) do update
       set steps = excluded.steps, concurrency = excluded.concurrency,
           last_registered_at = greatest(d.last_registered_at, excluded.last_registered_at)
    returning d.def_id into v_id;
    delete from core_private.workflow_undo_functions f where f.def_id = v_id and f.step <> all (v_undos);
    insert into core_private.workflow_undo_functions (def_id, step, function, owner)
    select v_id, u.step, u.function, u.owner::regrole
      from unnest(v_undos, v_functions, v_owners) u(step, function, owner)
    on conflict (def_id, step) do update
       set function = excluded.function, owner = excluded.owner;
    return v_id;
end $$;
comment on function core_node.register_workflow(text, text, integer, jsonb, jsonb) is 'For nodes: says what a workflow looks like, and returns the number of its definition, by which runs are claimed; the same again has the same one. p_steps is an array of objects with name and kind (step, tx, sleep, sleep_until, signal, parallel, sequence, map, route, loop, child), and where they apply undo (go, tx, sql, item), undo_on_failure, steps, cases, workflow, max, and function with undo sql. Options: concurrency, how many runs of the workflow, in whatever form, are in hand at once. New runs take the definition that was registered last. Raises 42501, NX004, NX005, NX006, NX015, NX019, NX101, NX401, NX402.';
