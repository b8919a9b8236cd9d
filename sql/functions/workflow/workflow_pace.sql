create or replace function core_node.workflow_pace(
    p_namespace text, p_defs bigint[], out wake_key text, out due interval)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
    v_now timestamptz := core_private.now();
begin
    perform core_private.require_duty(p_namespace, 'consume');
    wake_key := core_private.workflow_key(p_namespace);
    if exists (select from core_private.workflow_signals s where s.namespace = p_namespace and not s.routed) then
        due := '0';
        return;
    end if;
    -- Inside of min(): greatest() passes over NULL, and without runs something would be due now.
    due := (select min(greatest(n.due_at, v_now)) - v_now
              from core_private.workflow_definitions d
             cross join lateral (
                 select c.due_at
                   from core_private.workflow_cursors c
                  where c.def_id = d.def_id and c.due_at is not null
                  order by c.due_at
                  limit 1) n
             where d.namespace = p_namespace and d.def_id = any (p_defs));
end $$;
comment on function core_node.workflow_pace(text, bigint[]) is 'For nodes: the key by which they are woken for runs of workflows, and how long it is until the next one of these definitions is due; NULL: none is, 0: one is, or a signal has come. Raises NX101, NX401, NX402.';
