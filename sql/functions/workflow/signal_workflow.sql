-- Only inserts, so that who signals waits for no run and no run for him. A claim looks for who waits.
create or replace function core.signal_workflow(p_run_id uuid, p_name text, p_payload jsonb = null)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := core_private.now();
    v_run core_private.workflow_runs;
begin
    p_run_id := core_private.current_run(p_run_id);
    v_run := core_private.run_named(p_run_id, '{produce,operate}');
    if p_name is null or p_name !~ '^[a-z][a-z0-9_-]{0,62}$' then
        raise exception using errcode = 'NX006', column = 'p_name',
            message = format('a signal cannot be called %s', coalesce(quote_literal(left(p_name, 100)), 'NULL')),
            hint = 'Give the name of the step that waits for it.';
    end if;
    if v_run.run_id is null then
        return 'not_found';
    elsif v_run.finished_at is not null then
        return 'already_finished';
    end if;
    if p_payload is not null then
        perform core_private.check_payload(
            p_payload, (select n.max_payload_bytes from core.namespaces n where n.namespace = v_run.namespace));
    end if;
    insert into core_private.workflow_signals (namespace, run_id, name, payload, sent_at, sent_by)
    values (v_run.namespace, p_run_id, p_name, p_payload, v_now, core_private.principal());
    perform core_private.wake_workflows(v_run.namespace, v_now);
    return 'stored';
end $$;
comment on function core.signal_workflow(uuid, text, jsonb) is 'Sends a signal to a run, in the caller''s transaction: stored, and kept until a step of that name waits for it; already_finished or not_found, and nothing is sent. Of two with one name each is taken by one wait. Raises NX003, NX006, NX401, NX402, NX601.';
