-- Every grant of Nexus, applied last, as nexus_owner.
--
-- The two lists are the whole truth for PUBLIC and the roles of Nexus: what is missing is granted, what is not listed is
-- revoked, and what already fits is not touched. Grants that an administrator gave to roles of his own stay. The order is
-- fixed, so that two installations are equal to the letter. What somebody else made in the schemas is his, and nobody is let in.
--
-- A function is listed once, under the first duty that needs it; all its overloads are meant. nexus_admin needs no mention
-- where a duty that it is a member of has one. A function that is listed nowhere can be called by nexus_owner alone.

alter default privileges revoke execute on functions from public;

revoke all on schema core, core_node, core_private from public;
grant usage on schema core, core_node to
  nexus_reader, nexus_producer, nexus_consumer, nexus_operator, nexus_admin, nexus_scheduler, nexus_sql;

do $functions$
declare
  v_change record;
begin
  for v_change in
    with listed (name, roles) as (values
      -- reader
      ('core.peek', '{nexus_reader}'::name[]),
      ('core.now', '{nexus_reader,nexus_producer,nexus_consumer}'),
      ('core_private.count_queue', '{nexus_reader}'),
      ('core_private.missing_parts', '{nexus_reader}'),
      ('core_private.unregistered_queues', '{nexus_reader}'),
      ('core_private.wanted_sweeps', '{nexus_reader}'),
      ('core_private.log_partitions', '{nexus_reader}'),
      ('core_private.blockers', '{nexus_reader}'),
      ('core.event_status', '{nexus_reader}'),
      ('core.find_event', '{nexus_reader}'),
      ('core_private.backfills_of', '{nexus_reader}'),
      ('core_private.limits_of', '{nexus_reader}'),
      ('core_private.unread_of', '{nexus_reader}'),
      ('core_private.lane_settings', '{nexus_reader}'),
      ('core_private.definition_state', '{nexus_reader}'),
      ('core_private.upcoming_runs', '{nexus_reader}'),
      ('core_private.why_not_run', '{nexus_reader}'),
      ('core_private.why_parked', '{nexus_reader}'),
      ('core_private.lane_states', '{nexus_reader}'),
      ('core_private.unworked_before', '{nexus_reader}'),
      ('core_private.without_handler', '{nexus_reader}'),
      ('core_private.lane_partition_holders', '{nexus_reader}'),
      ('core_private.pending_of', '{nexus_reader}'),
      ('core_private.unhandled_types', '{nexus_reader}'),
      ('core_private.handler_trouble', '{nexus_reader}'),
      ('core_private.handler_oid', '{nexus_reader}'),
      ('core_private.trigger_state', '{nexus_reader}'),
      ('core_private.match_backs_of', '{nexus_reader}'),
      ('core.workflow_tree', '{nexus_reader}'),
      ('core_private.watch_state', '{nexus_reader}'),
      ('core_private.namespaces_read_by', '{nexus_reader,nexus_producer,nexus_consumer}'),
      ('core.schema_version', '{nexus_reader,nexus_producer,nexus_consumer}'),
      ('core.create_namespace', '{nexus_reader,nexus_producer,nexus_consumer}'),
      ('core.require_namespace', '{nexus_reader,nexus_producer,nexus_consumer}'),
      ('core.visible_namespaces', '{nexus_reader,nexus_producer,nexus_consumer}'),
      ('core.next_runs', '{nexus_reader,nexus_producer,nexus_consumer}'),
      ('core_private.cron_jobs', '{nexus_reader}'),
      ('core_private.cron_job_runs', '{nexus_reader}'),
      ('core_private.own_cron_drift', '{nexus_reader}'),
      ('core_private.others_cron_jobs', '{nexus_reader}'),
      ('core.cron_drift', '{nexus_reader}'),
      ('core.kv_get', '{nexus_reader,nexus_consumer}'),
      ('core.kv_list', '{nexus_reader,nexus_consumer}'),
      -- producer
      ('core.watch_table', '{nexus_producer}'),
      ('core.unwatch_table', '{nexus_producer}'),
      ('core_node.register_watch', '{nexus_producer}'),
      ('core_node.forget_watch', '{nexus_producer}'),
      ('core_node.lock_watched', '{nexus_producer}'),
      ('core_node.table_blockers', '{nexus_producer}'),
      ('core_node.note_rows', '{nexus_producer}'),
      ('core_node.note_row', '{nexus_producer}'),
      ('core_node.note_truncate', '{nexus_producer}'),
      ('core.schedule_task', '{nexus_producer,nexus_operator}'),
      ('core.pause_task', '{nexus_producer,nexus_operator}'),
      ('core.resume_task', '{nexus_producer,nexus_operator}'),
      ('core.delete_task', '{nexus_producer,nexus_operator}'),
      ('core.run_task_now', '{nexus_producer,nexus_operator}'),
      ('core.apply_tasks', '{nexus_producer,nexus_operator}'),
      ('core.backfill_task', '{nexus_producer,nexus_operator}'),
      ('core.run_scheduled_task', '{nexus_producer,nexus_operator,nexus_scheduler}'),
      ('core.emit', '{nexus_producer}'),
      ('core.emit_batch', '{nexus_producer}'),
      ('core.kv_set', '{nexus_producer}'),
      ('core.kv_cas', '{nexus_producer}'),
      ('core.kv_delete', '{nexus_producer}'),
      ('core.request', '{nexus_producer}'),
      ('core.await_reply', '{nexus_producer}'),
      ('core.take_reply', '{nexus_producer}'),
      ('core.cancel_request', '{nexus_producer}'),
      ('core.start_workflow', '{nexus_producer}'),
      ('core.workflow_outcome', '{nexus_producer,nexus_consumer,nexus_operator}'),
      ('core.signal_workflow', '{nexus_producer,nexus_operator}'),
      ('core.outbox_enqueue', '{nexus_producer}'),
      ('core.outbox_enqueue_batch', '{nexus_producer}'),
      ('core.outbox_register_queue', '{nexus_consumer,nexus_operator}'),
      ('core.append_event_log', '{nexus_producer,nexus_operator}'),
      ('core.schedule_event', '{nexus_producer,nexus_operator}'),
      ('core.reschedule_event', '{nexus_producer,nexus_operator}'),
      ('core.cancel_scheduled_event', '{nexus_producer,nexus_operator}'),
      ('core.queue_name_for_namespace', '{nexus_producer,nexus_consumer,nexus_reader}'),
      ('core.dead_letter_queue_name_for_namespace', '{nexus_producer,nexus_consumer,nexus_reader}'),
      -- consumer
      ('core.ack', '{nexus_consumer}'),
      ('core_node.begin_request', '{nexus_consumer}'),
      ('core_node.answer_request', '{nexus_consumer}'),
      ('core_node.consumer_settings', '{nexus_consumer}'),
      ('core.create_consumer', '{nexus_consumer,nexus_operator}'),
      ('core_node.metrics_sample', '{nexus_consumer}'),
      ('core_node.claim', '{nexus_consumer}'),
      ('core_node.claim_batch', '{nexus_consumer}'),
      ('core_node.claim_these', '{nexus_consumer}'),
      ('core_node.open_express', '{nexus_consumer}'),
      ('core_node.settle_batch', '{nexus_consumer}'),
      ('core_node.close_express', '{nexus_consumer}'),
      ('core_node.recall_express', '{nexus_consumer}'),
      ('core_node.node_process', '{nexus_consumer}'),
      ('core_node.refuse_commit', '{nexus_consumer}'),
      ('core_node.settle', '{nexus_consumer}'),
      ('core_node.settle_and_claim', '{nexus_consumer}'),
      ('core_node.extend', '{nexus_consumer}'),
      ('core_node.promote_delayed', '{nexus_consumer}'),
      ('core_node.next_delayed_due', '{nexus_consumer}'),
      ('core_node.look', '{nexus_consumer}'),
      ('core.fire_due_events', '{nexus_consumer}'),
      ('core_node.unpark', '{nexus_consumer}'),
      ('core_node.wait_for_wake', '{nexus_consumer}'),
      ('core_node.wait_for_sql', '{nexus_consumer}'),
      ('core_node.retry_delay', '{nexus_consumer}'),
      ('core_node.webhooks', '{nexus_consumer}'),
      ('core_node.ingress_token', '{nexus_producer}'),
      ('core_node.http_routes', '{nexus_producer}'),
      ('core_node.fire_http', '{nexus_producer}'),
      ('core_node.note_webhook', '{nexus_consumer}'),
      ('core_node.register_node', '{nexus_consumer}'),
      ('core_node.replace_capabilities', '{nexus_consumer}'),
      ('core_node.heartbeat', '{nexus_consumer}'),
      ('core.touch_node_heartbeat', '{nexus_consumer}'),
      ('core_node.must_drain', '{nexus_consumer}'),
      ('core_node.claim_broadcast', '{nexus_consumer}'),
      ('core_node.ack_broadcast', '{nexus_consumer}'),
      ('core_node.settle_broadcast', '{nexus_consumer}'),
      ('core_node.holds_broadcast', '{nexus_consumer}'),
      ('core.unfit_runs', '{nexus_consumer}'),
      ('core_node.register_workflow', '{nexus_consumer}'),
      ('core_node.claim_runs', '{nexus_consumer}'),
      ('core_node.claim_unread_runs', '{nexus_consumer}'),
      ('core_node.read_run', '{nexus_consumer}'),
      ('core_node.commit_steps', '{nexus_consumer}'),
      ('core_node.commit_tx_step', '{nexus_consumer}'),
      ('core_node.undo_tx_step', '{nexus_consumer}'),
      ('core_node.commit_step', '{nexus_consumer}'),
      ('core_node.end_branch', '{nexus_consumer}'),
      ('core_node.fail_step', '{nexus_consumer}'),
      ('core_node.wait_step', '{nexus_consumer}'),
      ('core_node.fan_out', '{nexus_consumer}'),
      ('core_node.start_child', '{nexus_consumer}'),
      ('core_node.undo_step', '{nexus_consumer}'),
      ('core_node.extend_runs', '{nexus_consumer}'),
      ('core_node.release_runs', '{nexus_consumer}'),
      ('core_node.set_progress', '{nexus_consumer}'),
      ('core_node.workflow_pace', '{nexus_consumer}'),
      ('core_node.start_runs', '{nexus_consumer}'),
      ('core_node.outbox_pace', '{nexus_consumer}'),
      ('core_node.lanes_due', '{nexus_consumer}'),
      ('core_node.fetch_lane', '{nexus_consumer}'),
      ('core_node.settle_lane', '{nexus_consumer}'),
      ('core_node.extend_lanes', '{nexus_consumer}'),
      ('core_node.give_back_lanes', '{nexus_consumer}'),
      ('core_node.claim_ordered', '{nexus_consumer}'),
      ('core_node.settle_ordered', '{nexus_consumer}'),
      ('core_node.look_ordered', '{nexus_consumer}'),
      ('core_node.reap_nodes', '{nexus_consumer}'),
      ('core_node.fire_due', '{nexus_consumer,nexus_operator,nexus_scheduler}'),
      ('core.tick', '{nexus_consumer,nexus_operator,nexus_scheduler}'),
      ('core.work', '{nexus_consumer}'),
      ('core_node.claim_own', '{nexus_consumer}'),
      ('core_node.run_own', '{nexus_consumer}'),
      ('core_node.fail_own', '{nexus_consumer}'),
      ('core.subscribe', '{nexus_consumer}'),
      ('core_node.require_routed', '{nexus_consumer}'),
      ('core.create_handler', '{nexus_consumer,nexus_operator}'),
      ('core.drop_handler', '{nexus_consumer,nexus_operator}'),
      ('core.create_trigger', '{nexus_consumer,nexus_operator}'),
      ('core.enable_trigger', '{nexus_consumer,nexus_operator}'),
      ('core.disable_trigger', '{nexus_consumer,nexus_operator}'),
      ('core.delete_trigger', '{nexus_consumer,nexus_operator}'),
      ('core.test_triggers', '{nexus_consumer,nexus_operator}'),
      ('core.hand_over_triggers', '{nexus_operator}'),
      ('core.match_back', '{nexus_consumer,nexus_operator}'),
      ('core.switch_watch', '{nexus_operator}'),
      ('core.unsubscribe', '{nexus_consumer,nexus_operator}'),
      ('core.retry_event', '{nexus_consumer}'),
      ('core.reject_event', '{nexus_consumer}'),
      ('core.release_event', '{nexus_consumer}'),
      -- SQL handlers; what these run for whoever owns them stays behind in a session that may call nothing else
      ('core.work_all', '{nexus_sql}'),
      ('core_node.claim_sql', '{nexus_sql}'),
      ('core_node.run_sql', '{nexus_sql}'),
      ('core_node.fail_sql', '{nexus_sql}'),
      ('core_node.claim_undo', '{nexus_sql}'),
      ('core_node.run_undo', '{nexus_sql}'),
      ('core_node.fail_undo', '{nexus_sql}'),
      ('core_node.clean_session', '{nexus_sql}'),
      -- operator
      ('core.may_operate', '{nexus_operator}'),
      ('core_private.is_operated_by', '{nexus_reader,nexus_operator}'),
      ('core.replay_events', '{nexus_operator}'),
      ('core.replay_dead_letter', '{nexus_operator}'),
      ('core.replay_dead_letters', '{nexus_operator}'),
      ('core.discard_dead_letter', '{nexus_operator}'),
      ('core.discard_dead_letters', '{nexus_operator}'),
      ('core.preview_dead_letters', '{nexus_operator}'),
      ('core.claim_dead_letters', '{nexus_operator}'),
      ('core.extend_dead_letters', '{nexus_operator}'),
      ('core.reject_dead_letter', '{nexus_operator}'),
      ('core.expire_dead_letters', '{nexus_operator}'),
      ('core.count_dead_letters', '{nexus_operator}'),
      ('core.resolve_dead_letter', '{nexus_operator}'),
      ('core.resolve_dead_letters', '{nexus_operator}'),
      ('core.alter_consumer', '{nexus_operator}'),
      ('core.pause_consumer', '{nexus_operator}'),
      ('core.resume_consumer', '{nexus_operator}'),
      ('core.drop_consumer', '{nexus_operator}'),
      ('core.purge_queue', '{nexus_operator}'),
      ('core.cancel_workflow', '{nexus_operator}'),
      ('core.retry_workflow', '{nexus_operator}'),
      ('core.accept_workflow', '{nexus_operator}'),
      ('core.fork_workflow', '{nexus_operator}'),
      ('core.lane_pause', '{nexus_operator}'),
      ('core.lane_release', '{nexus_operator}'),
      ('core.lane_resume', '{nexus_operator}'),
      ('core.lane_skip', '{nexus_operator}'),
      ('core.outbox_repartition', '{nexus_operator}'),
      ('core.outbox_replay', '{nexus_operator}'),
      ('core.outbox_drop_queue', '{nexus_operator}'),
      ('core.create_webhook', '{nexus_operator}'),
      ('core.alter_webhook', '{nexus_operator}'),
      ('core.rotate_webhook_secret', '{nexus_operator}'),
      ('core.drop_webhook', '{nexus_operator}'),
      ('core.cancel_deliveries', '{nexus_operator}'),
      ('core.run_deliveries_now', '{nexus_operator}'),
      ('core.drain_node', '{nexus_operator}'),
      ('core.forget_node', '{nexus_operator}'),
      -- admin; that EXECUTE is granted to them alone is the first check, since it goes by the true current_user
      ('core.register_namespace', '{nexus_admin}'),
      ('core.alter_namespace', '{nexus_admin}'),
      ('core.alter_scheduler', '{nexus_admin}'),
      ('core.alter_settings', '{nexus_admin}'),
      ('core.sync_cron_jobs', '{nexus_admin}'),
      ('core.repair_cron', '{nexus_admin}'),
      ('core.drop_namespace', '{nexus_admin}'),
      ('core.lanes_rebase', '{nexus_admin}'),
      ('core.grant_namespace', '{nexus_admin}'),
      ('core.revoke_namespace', '{nexus_admin}'),
      ('core.create_ingress_token', '{nexus_admin}'),
      ('core.revoke_ingress_token', '{nexus_admin}'),
      ('core.run_sweep', '{nexus_admin,nexus_scheduler}'),
      ('core.maintain_partitions', '{nexus_admin,nexus_scheduler}'),
      ('core.repair_partitions', '{nexus_admin}')
    ),
    routine as (
      select p.oid, n.nspname || '.' || p.proname as name, p.proowner,
             coalesce(p.proacl, acldefault('f', p.proowner)) as acl
        from pg_proc p
        join pg_namespace n on n.oid = p.pronamespace
       where n.nspname in ('core', 'core_node', 'core_private') and p.proowner::regrole::text in ('nexus_owner', 'nexus_scheduler', 'nexus_guard')
    ),
    wanted as (
      select r.oid, w.role::regrole::oid as grantee
        from routine r
        join listed l using (name)
       cross join unnest(l.roles) w (role)
    ),
    given as (
      select r.oid, a.grantee
        from routine r
       cross join aclexplode(r.acl) a
        left join pg_roles g on g.oid = a.grantee
       where a.grantee <> r.proowner
         and (a.grantee = 0 or (g.rolname like E'nexus\\_%' and g.rolname <> 'nexus_owner'))
    )
    select 'revoke all on routine %s from %s' as statement, oid::regprocedure::text as routine,
           case grantee when 0 then 'public' else grantee::regrole::text end as grantee
      from (select * from given except select * from wanted) too_many
     union all
    select 'grant execute on routine %s to %s', oid::regprocedure::text, grantee::regrole::text
      from (select * from wanted except select * from given) too_few
     order by routine, statement desc, grantee
  loop
    execute format(v_change.statement, v_change.routine, v_change.grantee);
  end loop;
end
$functions$;

-- Tables are listed; every view of core is read model and open to the reader. Who may see which rows is up to row-level
-- security.
do $relations$
declare
  v_change record;
begin
  for v_change in
    with listed (name) as (values
      ('namespaces'), ('namespace_grants'), ('nodes'), ('event_log'), ('consumers'), ('queues'), ('dead_letters'),
      ('delivery_errors'), ('error_codes'), ('delayed'), ('parked'),
      ('scheduled_tasks'), ('task_slots'), ('task_runs'), ('scheduled_events'), ('audit_log'), ('webhooks'), ('ingress_tokens'), ('broadcasts'), ('kv_entries'), ('handlers'),
      ('inbox'), ('abandoned_executions'), ('triggers'), ('event_trigger_details'), ('kv_trigger_details'), ('watched_tables'), ('dead_letter_trigger_details'),
      ('cron_trigger_details'),
      ('trigger_drops')
    ),
    relation as (
      select c.oid, n.nspname, c.relname as name, c.relkind, c.relowner,
             coalesce(c.relacl, acldefault('r', c.relowner)) as acl
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
       where n.nspname in ('core', 'core_node', 'core_private') and c.relkind in ('r', 'p', 'v', 'm') and not c.relispartition
         and c.relowner::regrole::text = 'nexus_owner'
    ),
    wanted as (
      select r.oid, 'nexus_reader'::regrole::oid as grantee, 'SELECT' as privilege
        from relation r
       where r.nspname = 'core' and (r.relkind in ('v', 'm') or r.name in (select l.name from listed l))
       union all
      -- Written by hand or by old scripts; triggers check the caller.
      select r.oid, 'nexus_operator'::regrole::oid, w.privilege
        from relation r cross join (values ('INSERT'), ('DELETE')) w (privilege)
       where r.nspname = 'core' and r.name = 'scheduled_tasks'
    ),
    given as (
      select r.oid, a.grantee, a.privilege_type as privilege
        from relation r
       cross join aclexplode(r.acl) a
        left join pg_roles g on g.oid = a.grantee
       where a.grantee <> r.relowner
         and (a.grantee = 0 or (g.rolname like E'nexus\\_%' and g.rolname <> 'nexus_owner'))
    )
    select 'revoke %s on %s from %s' as statement, oid::regclass::text as relation, privilege,
           case grantee when 0 then 'public' else grantee::regrole::text end as grantee
      from (select * from given except select * from wanted) too_many
     union all
    select 'grant %s on %s to %s', oid::regclass::text, privilege, grantee::regrole::text
      from (select * from wanted except select * from given) too_few
     order by relation, statement desc, grantee, privilege
  loop
    execute format(v_change.statement, v_change.privilege, v_change.relation, v_change.grantee);
  end loop;
end
$relations$;

-- Of scheduled_tasks only what people decide can be updated.
do $columns$
declare
  v_columns constant text[] := '{namespace,name,cron_expression,event_type,payload,timezone,active,misfire,misfire_after,backfill,overlap,jitter,starts_at,ends_at,owner}';
  v_change record;
begin
  for v_change in
    with given as (
      select a.attname::text as name, exists (select from aclexplode(a.attacl) x where x.grantee = 'nexus_operator'::regrole and x.privilege_type = 'UPDATE') as given
        from pg_attribute a where a.attrelid = to_regclass('core.scheduled_tasks') and a.attnum > 0 and not a.attisdropped
    )
    select case when g.given then 'revoke update (%I) on core.scheduled_tasks from nexus_operator'
                else 'grant update (%I) on core.scheduled_tasks to nexus_operator' end as statement, g.name
      from given g where g.given <> (g.name = any (v_columns)) order by g.name
  loop
    execute format(v_change.statement, v_change.name);
  end loop;
end
$columns$;

-- What nothing above names: rights on other columns, on sequences, and on what nexus_owner will create.
do $rest$
declare
  v_change text;
begin
  for v_change in
    select format('revoke %s (%I) on %I.%I from %s', x.privilege_type, a.attname, n.nspname, c.relname,
             case x.grantee when 0 then 'public' else quote_ident(r.rolname) end)
      from pg_attribute a
      join pg_class c on c.oid = a.attrelid
      join pg_namespace n on n.oid = c.relnamespace
     cross join aclexplode(a.attacl) x
      left join pg_roles r on r.oid = x.grantee
     where n.nspname in ('core', 'core_node', 'core_private') and a.attnum > 0 and not a.attisdropped and not c.relispartition
       and x.grantee <> c.relowner and (x.grantee = 0 or r.rolname like 'nexus\_%')
       and not (n.nspname = 'core' and c.relname = 'scheduled_tasks' and r.rolname = 'nexus_operator' and x.privilege_type = 'UPDATE')
    union all
    select format('revoke %s on sequence %I.%I from %s', x.privilege_type, n.nspname, c.relname,
             case x.grantee when 0 then 'public' else quote_ident(r.rolname) end)
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
     cross join aclexplode(c.relacl) x
      left join pg_roles r on r.oid = x.grantee
     where n.nspname in ('core', 'core_node', 'core_private') and c.relkind = 'S'
       and x.grantee <> c.relowner and (x.grantee = 0 or r.rolname like 'nexus\_%')
    union all
    select format('alter default privileges %s revoke %s on %s from %s',
             case when d.defaclnamespace <> 0 then format('in schema %s', d.defaclnamespace::regnamespace) end, x.privilege_type,
             case d.defaclobjtype when 'r' then 'tables' when 'S' then 'sequences' when 'f' then 'functions' when 'T' then 'types' else 'schemas' end,
             case x.grantee when 0 then 'public' else quote_ident(r.rolname) end)
      from pg_default_acl d
     cross join aclexplode(d.defaclacl) x
      left join pg_roles r on r.oid = x.grantee
     where d.defaclrole = 'nexus_owner'::regrole
       and x.grantee <> d.defaclrole and (x.grantee = 0 or r.rolname like 'nexus\_%') and (x.grantee <> 0 or d.defaclobjtype <> 'T')
    union all
    select format('revoke %s on schema %I from %s', x.privilege_type, n.nspname, quote_ident(r.rolname))
      from pg_namespace n
     cross join aclexplode(n.nspacl) x
      join pg_roles r on r.oid = x.grantee
     where n.nspname in ('core', 'core_node', 'core_private') and x.grantee <> n.nspowner and r.rolname like 'nexus\_%'
       and (n.nspname = 'core_private' or x.privilege_type = 'CREATE')
     order by 1
  loop
    execute v_change;
  end loop;
end
$rest$;
