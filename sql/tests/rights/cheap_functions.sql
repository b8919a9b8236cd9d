-- I3: a function that is cheaper than what hides a row is not shown the row
-- holds: I3-cheap
select core.create_namespace('closed', '{"restricted": true}'), core.create_namespace('open');
select core_node.register_node(n, n || '1', true, '{a}') from unnest(array['closed', 'open']) n;
select core.emit_batch(n, '{a,a,a}', '{1,2,3}', array[null, null, '{"delay": "1 h"}']::jsonb[]) from unnest(array['closed', 'open']) n;
select core_node.claim('core_events_' || n, '{a}', '{0}', 1, '30 s') from unnest(array['closed', 'open']) n;
select core.schedule_event(n, 'a', '1', core.now()) from unnest(array['closed', 'open']) n;
select core.drain_node(n || '1') from unnest(array['closed', 'open']) n;
select core_private.bury('core_events_' || n, 'n', '{1}', '{1}', '{r}', '{e}') from unnest(array['closed', 'open']) n;
insert into core.parked (queue_name, event_type, msg_id, namespace, read_ct, enqueued_at, message, parked_at, lived)
select 'core_events_' || n, 'z', 9, n, 0, core.now(), '{}', core.now(), '0' from unnest(array['closed', 'open']) n;
select core.schedule_task(n, 't', '0 0 1 1 *', 'a') from unnest(array['closed', 'open']) n;
select (core.run_task_now(t.task_id)).event_id from core.scheduled_tasks t;
insert into core.task_slots (task_id, slot, namespace, status, recorded_at) select t.task_id, core.now(), t.namespace, 'skipped', core.now() from core.scheduled_tasks t;
do $$ begin
  if to_regclass('cron.job_run_details') is not null then
    insert into cron.job_run_details (jobid, runid, status, username, return_message)
    select t.job_id, 1000000 + row_number() over (), 'succeeded', 'nexus_scheduler', 'of ' || t.namespace from core.scheduled_tasks t;
  end if;
end $$;
create role t_reader in role nexus_reader; create role t_operator in role nexus_operator;
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create table public.noted (relation text, value text);
grant select, insert on public.noted to public;
create function public.note(p_relation text, p_value text) returns void language plpgsql volatile as $$
begin
  insert into public.noted values (p_relation, p_value);
end $$;
-- Immutable and for nothing, it says, so that it is asked first; strict, which makes inner joins of outer ones.
create function public.cheap(p_relation text, p_value text) returns boolean language plpgsql immutable strict cost 0.0000001 as $$
begin
  perform public.note(p_relation, p_value);
  return true;
end $$;
grant usage on schema public to public; grant execute on all functions in schema public to public;
create temporary table columns as
select c.relname as relation, a.attname as name
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
 where c.relnamespace = 'core'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition and has_table_privilege('nexus_reader', c.oid, 'select');
grant select on columns to public;
set local role t_reader;
do $$ declare r record; begin
  for r in select * from columns order by 1, 2 loop
    execute format('select count(*) from core.%1$I where public.cheap(%1$L, %2$I::text)', r.relation, r.name);
  end loop;
end $$;
reset role;
select ok((select count(distinct relation) > 20 from public.noted), 'it is asked');
select is((select string_agg(distinct relation, ', ') from public.noted where value like '%closed%'), null, 'and sees nothing of the closed namespace');
select is((select string_agg(distinct n.relation, ', ') from public.noted n join core.scheduled_tasks t on t.namespace = 'closed' and n.value = t.task_id::text), null, 'nor its ids');
