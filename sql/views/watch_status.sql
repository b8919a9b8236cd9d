create or replace view core.watch_status with (security_barrier = true) as
select w.namespace, w.relation::text as table_name, w.collection, w.enabled, w.off_reason, s.principal_ok,
       s.missing, s.switched_off, s.altered,
       w.ops,
       array(select a.attname::text from pg_attribute a
              where a.attrelid = w.relation and a.attnum = any (w.columns) order by a.attnum) as columns,
       array(select a.attname::text from pg_attribute a
              where a.attrelid = w.relation and a.attnum = any (w.key) order by a.attnum) as key,
       w.unchanged, w.emit, w.replica, w.by_row, w.registered_by, w.watch_id, w.created_at
  from core.watched_tables w
 cross join lateral core_private.watch_state(w.watch_id) s
 where w.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.watch_status is 'One row a watched table: what of its changes are mutations of which collection, and what is in their way.';
comment on column core.watch_status.namespace is 'The namespace of the mutations.';
comment on column core.watch_status.table_name is 'The table.';
comment on column core.watch_status.collection is 'The collection of the mutations.';
comment on column core.watch_status.enabled is 'Whether changes are mutations.';
comment on column core.watch_status.off_reason is 'Why they are not.';
comment on column core.watch_status.principal_ok is 'Whether who watched it may still produce; else a sweep switches it off.';
comment on column core.watch_status.missing is 'Its triggers that are gone; core.watch_table, called again alike, makes them.';
comment on column core.watch_status.switched_off is 'Its triggers that somebody disabled; core.watch_table enables them.';
comment on column core.watch_status.altered is 'Its triggers that are not as they were made; core.watch_table mends them.';
comment on column core.watch_status.ops is 'Which changes count; {}: all.';
comment on column core.watch_status.columns is 'Which columns are shown and count; {}: all.';
comment on column core.watch_status.key is 'The key where the table has none of its own.';
comment on column core.watch_status.unchanged is 'Whether updates count that change nothing.';
comment on column core.watch_status.emit is 'Whether mutations are ordinary events as well.';
comment on column core.watch_status.replica is 'Whether what replication applies counts.';
comment on column core.watch_status.by_row is 'Whether it is watched row by row.';
comment on column core.watch_status.registered_by is 'Who watched it.';
comment on column core.watch_status.watch_id is 'Its number, for core.switch_watch.';
comment on column core.watch_status.created_at is 'When it was watched.';
