create or replace view core.blockers as
select b.kind, b.pid, b.name, b.role_name, b.application, b.state,
       b.since, b.age, b.xmin_age, b.holds_horizon, b.dead_rows
  from core_private.blockers() b;
comment on view core.blockers is 'Who keeps dead rows from being cleaned away: sessions, standbys, prepared transactions and replication slots, the one that holds the horizon first. Then, as kind lock, who holds a lock that Nexus waits for or passes over; name says which. Who only waits for another is not named: what it waits for is. xmin_age counts the transactions since; dead_rows is how many rows of Nexus''s tables wait for it. Ended by: select pg_terminate_backend(pid), rollback prepared, or pg_drop_replication_slot.';
comment on column core.blockers.kind is 'session, standby, prepared transaction, replication slot; lock: who holds a lock that Nexus waits for or passes over; not visible: the server does not show sessions to nexus_owner.';
comment on column core.blockers.pid is 'Server process, for pg_terminate_backend; NULL where there is none.';
comment on column core.blockers.name is 'Name of the prepared transaction or slot; for kind lock which lock, and who waits.';
comment on column core.blockers.role_name is 'Login of the session, or owner of the prepared transaction.';
comment on column core.blockers.application is 'application_name of the session; plugin of a slot.';
comment on column core.blockers.state is 'State of the session as in pg_stat_activity; prepared; active or inactive for slots.';
comment on column core.blockers.since is 'Begin of its transaction, else of its session; NULL for slots.';
comment on column core.blockers.age is 'Time since then.';
comment on column core.blockers.xmin_age is 'Transactions begun since the oldest one it may still have to see; NULL for kind lock.';
comment on column core.blockers.holds_horizon is 'Whether it, or one that waits for it, is the one that holds the horizon.';
comment on column core.blockers.dead_rows is 'Dead rows in all tables of Nexus; the same in each row.';
