-- People look at queues with pgmq's own functions, which run with their rights. The grants are the same for every queue, so rows are
-- what keeps a restricted namespace apart. The owner, as whom Nexus works, is not held by it and pays nothing.
create or replace function core_private.secure_queue(p_queue text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_namespace text := (select q.namespace from core.queues q where q.queue_name = p_queue);
    v_relation  text;
begin
    foreach v_relation in array array[core_private.queue_relation(p_queue), format('pgmq.%I', 'a_' || p_queue)] loop
        execute format('alter table %s enable row level security', v_relation);
        execute format('drop policy if exists nexus_read on %s', v_relation);
        execute format('drop policy if exists nexus_send on %s', v_relation);
        execute format('drop policy if exists nexus_change on %s', v_relation);
        execute format('drop policy if exists nexus_remove on %s', v_relation);
        -- The sub-selects are evaluated once a statement.
        execute format('create policy nexus_read on %s for select using (%L = any ((select core.visible_namespaces())::text[]))', v_relation, v_namespace);
        execute format('create policy nexus_send on %s for insert with check ((select core.may_operate(%L)))', v_relation, v_namespace);
        execute format('create policy nexus_change on %s for update using ((select core.may_operate(%L)))', v_relation, v_namespace);
        execute format('create policy nexus_remove on %s for delete using ((select core.may_operate(%L)))', v_relation, v_namespace);
    end loop;
end $$;
comment on function core_private.secure_queue(text) is 'Opens the rows of a registered queue and its archive to those who may see or operate its namespace; safe to run again.';
