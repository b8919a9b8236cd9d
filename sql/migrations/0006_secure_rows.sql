-- Readers see the rows of namespaces they may see. The owner, and so every definer function, is not subject to it.
do $$
declare
    v_table text;
begin
    foreach v_table in array array['namespaces', 'namespace_grants', 'consumers', 'queues', 'nodes', 'event_log', 'event_keys', 'dead_letters', 'delivery_errors'] loop
        execute format('alter table core.%I enable row level security', v_table);
        -- The sub-select is evaluated once a query, not once a row.
        execute format('create policy visible on core.%I using (namespace = any ((select core.visible_namespaces())::text[]))', v_table);
    end loop;
end $$;
alter table core.delayed enable row level security;
create policy visible on core.delayed using (queue_name in (select q.queue_name from core.queues q));
