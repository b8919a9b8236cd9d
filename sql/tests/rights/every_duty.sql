-- I3: the functions that only compute work for every role that may call them, which reaches nothing of core_private
-- holds: I3
create role t_producer in role nexus_producer; create role t_consumer in role nexus_consumer; create role t_reader in role nexus_reader;
create role t_operator in role nexus_operator; create role t_admin in role nexus_admin;
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create function pg_temp.said(p_role text, p_call text) returns text language plpgsql as $$
declare v_said text;
begin
  execute format('set local role %I', p_role);
  begin
    execute 'select ' || p_call into v_said;
  exception when others then v_said := sqlstate;
  end;
  reset role;
  return v_said;
end $$;
select is(pg_temp.said(r, $q$core.queue_name_for_namespace('a-b')$q$), 'core_events_a_b', r || ' learns the name of a queue'),
       is(pg_temp.said(r, $q$core.dead_letter_queue_name_for_namespace('a-b')$q$), 'core_events_a_b_dlq', r || ' learns that of its dead letters'),
       is(pg_temp.said(r, $q$core.queue_name_for_namespace('A')$q$), 'NX001', r || ' is told of a name that cannot be')
  from unnest('{t_producer,t_consumer,t_reader,t_operator,t_admin}'::text[]) r;
select is(pg_temp.said(r, $q$core_node.retry_delay('{"jitter": 0}', 2)$q$), '00:00:02', r || ' learns a delay') from unnest('{t_consumer,t_admin}'::text[]) r;
select is(pg_temp.said('t_producer', $q$core_node.retry_delay('{}', 1)$q$), '42501', 'who runs no nodes may not ask');
