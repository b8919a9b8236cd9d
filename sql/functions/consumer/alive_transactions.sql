-- Every transaction holds the lock of its own virtual id from its first statement on, whether or not it has written or
-- has a snapshot just now; one that is prepared holds that of its id instead. Autovacuum, which has no user, writes
-- nothing that is waited for here, and may be at a large table for hours.
create or replace function core_private.alive_transactions()
returns text[]
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
    select array(
        select l.virtualxid
          from pg_locks l
          join pg_stat_activity a on a.pid = l.pid
         where l.locktype = 'virtualxid' and l.granted and l.mode = 'ExclusiveLock'
           and l.pid <> pg_backend_pid() and a.datname = current_database() and a.usesysid is not null
         union all
        select 'prepared ' || p.transaction::text
          from pg_prepared_xacts p
         where p.database = current_database())
$$;
comment on function core_private.alive_transactions() is 'The transactions of this database that are alive, but for the caller''s own.';
