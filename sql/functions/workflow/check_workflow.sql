create or replace function core_private.check_workflow(p_name text, p_version integer, p_steps jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
    v_name  constant text := '^[a-z][a-z0-9_-]{0,62}$';
    v_kinds constant text[] := array[
        'step', 'tx', 'sleep', 'sleep_until', 'signal', 'parallel', 'sequence', 'map', 'route', 'loop', 'child'];
    v_step  record;
begin
    if p_name is null or p_name !~ v_name then
        perform core_private.fail_workflow(
            format('the workflow cannot be called %s', coalesce(quote_literal(left(p_name, 100)), 'NULL')),
            'Begin with a letter, then up to 62 of a-z, 0-9, _ and -.', 'p_name');
    end if;
    perform core_private.check_number(p_version, 'p_version', 0, 2147483647);
    if jsonb_typeof(p_steps) is distinct from 'array' then
        perform core_private.fail_workflow(
            format('the steps of %s are no array', p_name), 'Give an array of steps, each an object.');
    end if;
    if octet_length(p_steps::text) > 1048576 then
        perform core_private.fail_workflow(
            format('the steps of %s have %s bytes', p_name, octet_length(p_steps::text)),
            'A workflow has up to 1 MB of steps: make parts of it workflows of their own.');
    end if;
    for v_step in select * from core_private.workflow_nodes(p_steps) loop
        if jsonb_typeof(v_step.node) <> 'object' or v_step.name is null or v_step.name !~ v_name then
            perform core_private.fail_workflow(
                format('a step of %s cannot be called %s', p_name,
                       coalesce(quote_literal(left(v_step.name, 100)), left(v_step.node::text, 100))),
                'Begin with a letter, then up to 62 of a-z, 0-9, _ and -.');
        elsif v_step.kind is null or v_step.kind <> all (v_kinds) then
            perform core_private.fail_workflow(
                format('step %s cannot be of kind %s', v_step.name, quote_nullable(left(v_step.kind, 100))),
                'Kinds: ' || array_to_string(v_kinds, ', ') || '.');
        elsif v_step.depth > 20 then
            perform core_private.fail_workflow(
                format('step %s lies deeper than 20 containers', v_step.name), 'Make a workflow of its own of a part.');
        elsif v_step.node ? 'steps' and (jsonb_typeof(v_step.node -> 'steps') <> 'array'
                                         or v_step.kind not in ('parallel', 'sequence', 'loop')) then
            perform core_private.fail_workflow(
                format('step %s of kind %s has steps', v_step.name, v_step.kind),
                'parallel, sequence and loop have an array of steps.');
        elsif v_step.kind in ('parallel', 'sequence', 'loop')
              and jsonb_array_length(coalesce(v_step.node -> 'steps', '[]')) = 0 then
            perform core_private.fail_workflow(
                format('step %s of kind %s has no steps', v_step.name, v_step.kind), 'Give it one.');
        elsif (v_step.kind = 'route') <> (v_step.node ? 'cases') or v_step.kind = 'route' and (
                  jsonb_typeof(v_step.node -> 'cases') <> 'object'
                  or jsonb_path_exists(v_step.node -> 'cases', 'strict $.* ? (@.type() != "array")')) then
            perform core_private.fail_workflow(
                format('the cases of step %s are no arrays of steps', v_step.name),
                'A step of kind route has cases, an object of arrays.');
        elsif v_step.kind = 'child' and coalesce(v_step.node ->> 'workflow', '') !~ v_name then
            perform core_private.fail_workflow(
                format('step %s names no workflow', v_step.name), 'A step of kind child has the key workflow.');
        elsif coalesce(v_step.node ->> 'undo', 'go') not in ('go', 'tx', 'sql', 'item')
              or (v_step.node ->> 'undo' = 'item') and v_step.kind <> 'map' then
            perform core_private.fail_workflow(
                format('step %s cannot be undone by %s', v_step.name, v_step.node -> 'undo'),
                'Give go, tx, sql, or for a map item; or leave it out.');
        elsif (v_step.node ->> 'undo' is not distinct from 'sql') <> (v_step.node ? 'function') then
            perform core_private.fail_workflow(
                format('step %s has a function to undo it or is undone by sql, and not both', v_step.name),
                'Give both: "undo": "sql" and "function".');
        end if;
    end loop;
    select n.name
      into v_step
      from core_private.workflow_nodes(p_steps) n
     group by n.name
    having count(*) > 1
     limit 1;
    if found then
        perform core_private.fail_workflow(
            format('two steps of %s are called %s', p_name, v_step.name),
            'Names are unique in a workflow, those of containers and of steps in branches too.');
    end if;
end $$;
comment on function core_private.check_workflow(text, integer, jsonb) is 'Raises NX006 or NX019 unless it is a workflow.';
