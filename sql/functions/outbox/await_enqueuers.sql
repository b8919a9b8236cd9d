-- What they have written nobody sees before they commit, nor to which queue. Each holds the lock of the table that
-- an insert takes; so whoever has it is asked for, and nobody who enqueues pays for that.
create or replace function core_private.await_enqueuers(p_at_most interval)
returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_until timestamptz := clock_timestamp() + p_at_most;
    v_first text[];
    v_names text[];
    v_left  text[];
begin
    loop
        select array_agg(l.virtualtransaction),
               array_agg(coalesce('process ' || l.pid, 'a prepared transaction') order by l.pid)
          into v_left, v_names
          from pg_locks l
         where l.locktype = 'relation' and l.relation = 'core_private.lane_messages'::regclass
           and l.database = (select d.oid from pg_database d where d.datname = current_database())
           and l.mode = 'RowExclusiveLock' and l.granted and l.pid is distinct from pg_backend_pid()
           and (v_first is null or l.virtualtransaction = any (v_first));
        exit when v_left is null or clock_timestamp() >= v_until;
        v_first := v_left;
        perform pg_sleep(0.01);
    end loop;
    return coalesce(v_names, '{}');
end $$;
comment on function core_private.await_enqueuers(interval) is 'Waits for the transactions that have written to lanes and not ended, for so long at most; returns who is left.';
