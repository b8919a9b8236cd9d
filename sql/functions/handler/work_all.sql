-- Not pinned and no definer, since it commits: a claim, and then what was claimed. It runs as nexus_sql, which may call
-- nothing but the two functions; what it looks up on its own is qualified. One owner a transaction, and what a handler
-- leaves in the session is gone before the next: DISCARD ALL in its parts, since it refuses to run in a procedure.
-- Settings go first, since one of them may forbid the transactions that follow to write.
create or replace procedure core.work_all(p_for interval = '45 seconds')
language plpgsql
as $$
declare
    v_end      timestamptz := pg_catalog.clock_timestamp() operator(pg_catalog.+) p_for;
    v_last     integer;
    v_consumer integer;
    v_ids      bigint[];
    v_cts      integer[];
    v_ats      timestamptz[];
begin
    loop
        v_consumer := null;
        select c.consumer_id, c.ids, c.cts, c.ats
          into v_consumer, v_ids, v_cts, v_ats
          from core_node.claim_sql(null, null, 50, v_last) c;
        exit when v_consumer is null;
        commit;
        if v_ids is not null then
            perform core_node.run_sql(v_consumer, 'nexus_sql', v_ids, v_cts, v_ats);
            commit;
            perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false);
            reset all;
            perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false);
            commit;
            execute 'close all';
            execute 'deallocate all';
            execute 'unlisten *';
            execute 'discard sequences';
            execute 'discard temp';
            perform pg_catalog.pg_advisory_unlock_all();
            commit;
        end if;
        v_last := v_consumer;
        exit when pg_catalog.clock_timestamp() operator(pg_catalog.>=) v_end;
    end loop;
end $$;
comment on procedure core.work_all(interval) is 'For nexus_sql, whose pg_cron job calls it: runs due deliveries of SQL handlers for about p_for, a second of each consumer in turn, each in a transaction of its own. Raises 25001, 55000, NX401.';
