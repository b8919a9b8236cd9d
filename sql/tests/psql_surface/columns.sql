-- 11: columns and types that users know, in this order, more only after them
-- holds: P1
create function pg_temp.columns(p_table regclass, p_n integer) returns text language sql as
  $$ select string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' order by attnum) from (select * from pg_attribute where attrelid = p_table and attnum > 0 and not attisdropped order by attnum limit p_n) a $$;
select is(pg_temp.columns('core.namespaces', 3), 'namespace text, created_at timestamp with time zone, metadata jsonb', 'core.namespaces');
select is(pg_temp.columns('core.nodes', 7), 'node_id text, namespace text, display_name text, description text, metadata jsonb, registered_at timestamp with time zone, last_heartbeat timestamp with time zone', 'core.nodes');
select is(pg_temp.columns('core.event_log', 8), 'event_id bigint, namespace text, event_type text, payload jsonb, emitted_at timestamp with time zone, producer_node_id text, scheduled_task_id uuid, metadata jsonb', 'core.event_log');
select col_is_pk('core', 'namespaces', 'namespace', 'key of namespaces');
select col_is_pk('core', 'nodes', 'node_id', 'key of nodes');
select col_is_pk('core', 'event_log', array['event_id', 'emitted_at'], 'key of event_log');
select col_is_unique('core', 'nodes', array['namespace', 'node_id']);
select fk_ok('core', 'nodes', 'namespace', 'core', 'namespaces', 'namespace');
select is((select count(*)::int from pg_constraint where confrelid = 'core.event_log'::regclass), 0, 'nothing references the log: it would keep partitions from being detached');
select is((select pg_get_partkeydef('core.event_log'::regclass)), 'RANGE (emitted_at)', 'the log is partitioned by emitted_at');
select function_returns('core', 'append_event_log', array['text', 'text', 'jsonb', 'text', 'uuid', 'jsonb'], 'bigint');
select function_returns('core', 'touch_node_heartbeat', array['text'], 'boolean');
select has_function('core', f, array['text'], f) from unnest(array['queue_name_for_namespace', 'dead_letter_queue_name_for_namespace']) f;
select is((select proargnames[1:6]::text from pg_proc where oid = 'core.append_event_log(text,text,jsonb,text,uuid,jsonb)'::regprocedure),
          '{p_namespace,p_event_type,p_payload,p_producer_node_id,p_scheduled_task_id,p_metadata}', 'arguments keep their names');
select is(pg_temp.columns('core.scheduled_tasks', 11), 'task_id uuid, namespace text, job_id bigint, name text, cron_expression text, event_type text, payload jsonb, timezone text, active boolean, created_at timestamp with time zone, updated_at timestamp with time zone', 'core.scheduled_tasks');
select col_is_pk('core', 'scheduled_tasks', 'task_id', 'key of scheduled_tasks');
select has_function('core', 'run_scheduled_task', array['uuid'], 'run_scheduled_task');
