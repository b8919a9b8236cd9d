create or replace view core.blockers as
select b.kind, b.pid, b.name, b.role_name, b.application, b.state, b.since, b.age, b.xmin_age, b.holds_horizon, b.dead_rows
  from core_private.blockers() b;
comment on view core.blockers is 'Who keeps dead rows from being cleaned away: sessions, standbys, prepared transactions and replication slots, the one that holds the horizon first. Then, as kind lock, who holds a lock that Nexus waits for or passes over; name says which. xmin_age counts the transactions since; dead_rows is how many rows of Nexus''s tables wait for it. Ended by: select pg_terminate_backend(pid), rollback prepared, or pg_drop_replication_slot.';
