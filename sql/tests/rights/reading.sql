-- I3: rows, views and functions give one answer to who may read a restricted namespace: who has a grant to read or to operate
-- holds: I3
select core.create_namespace('closed', '{"restricted": true}');
select core_node.register_node('closed', 'closed1', true, '{a}');
select core.emit_batch('closed', '{a,a,a}', '{1,2,3}', array[null, null, '{"delay": "1 h"}']::jsonb[]);
select core_node.claim('core_events_closed', '{a}', '{0}', 1, '30 s');
select core_private.bury('core_events_closed', 'n', '{1}', '{1}', '{r}', '{e}');
select core.emit('closed', 'a');
create role t_all in role nexus_reader, nexus_producer, nexus_consumer, nexus_operator;
create role t_only_reader in role nexus_reader;
select core.grant_namespace('closed', 't_only_reader', 'operate');
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
-- What a role sees of the namespace, by relation; peek is asked too.
create function pg_temp.seen(p_role text) returns text[] language plpgsql as $$
declare v_name text; v_any boolean; v_seen text[] := '{}';
begin
  execute format('set local role %I', p_role);
  for v_name in
    select format('%I.%I', c.relnamespace::regnamespace, c.relname) from pg_class c
     where c.relkind in ('r', 'p', 'v') and not c.relispartition and has_table_privilege(c.oid, 'select')
       and (c.relnamespace = 'core'::regnamespace and c.relname not in ('error_codes', 'partitions', 'sweep_status')
            or c.relname in ('q_core_events_closed', 'q_core_events_closed_dlq'))
     order by 1
  loop
    execute format('select exists (select from %s r where r::text ~ ''closed|namespace'')', v_name) into v_any;
    if v_any then v_seen := v_seen || v_name; end if;
  end loop;
  begin
    perform core.peek('core_events_closed');
    v_seen := v_seen || 'core.peek'::text;
  exception when sqlstate 'NX402' then null;
  end;
  reset role;
  return v_seen;
end $$;
select is(pg_temp.seen('t_all'), '{}', 'without a grant');
select core.grant_namespace('closed', 't_all', 'produce');
select is(pg_temp.seen('t_all'), '{}', 'who may produce does not read');
select core.grant_namespace('closed', 't_all', 'consume');
select is(pg_temp.seen('t_all'), '{}', 'who may consume does not read');
select is(pg_temp.seen('t_only_reader'), '{}', 'nor who has a grant to operate and is no operator');
select core.grant_namespace('closed', 't_all', 'read');
create temporary table read as select pg_temp.seen('t_all') as names;
select ok((select names @> '{core.event_log,core.dead_letters,core.delivery_errors,core.nodes,core.queues,core.queue_metrics,core.delayed,core.namespaces,core.peek,pgmq.q_core_events_closed}' from read), 'who may read sees all of it');
select core.revoke_namespace('closed', 't_all', 'read'), core.grant_namespace('closed', 't_all', 'operate');
select is(pg_temp.seen('t_all'), (select names from read), 'and so does who operates it');
