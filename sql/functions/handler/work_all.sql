-- Not pinned and no definer, since it commits: a claim, and then what was claimed. It runs as nexus_sql, which may call
-- nothing but the three functions; what it looks up on its own is qualified. One owner a transaction. What a handler
-- leaves in the session is gone before the next: DISCARD ALL in its parts, since it refuses to run in a procedure.
-- Settings go first, since one of them may forbid the transactions that follow to write.
--
-- A commit that fails would end the call, and with it the turns of all others. So what a handler deferred to the commit
-- is checked before it, where it can be caught. A batch that fails is run again one by one.
create or replace procedure core.work_all(p_for interval = '45 seconds')
language plpgsql
as $$
declare
    v_end      timestamptz := pg_catalog.clock_timestamp() operator(pg_catalog.+) p_for;
    v_last     integer;
    v_consumer integer;
    v_owner    oid;
    v_ids      bigint[];
    v_cts      integer[];
    v_ats      timestamptz[];
    v_from     integer;
    v_to       integer;
    v_code     text;
    v_error    text;
begin
    loop
        v_consumer := null;
        select c.consumer_id, c.owner, c.ids, c.cts, c.ats
          into v_consumer, v_owner, v_ids, v_cts, v_ats
          from core_node.claim_sql(null, null, 50, v_last) c;
        exit when v_consumer is null;
        commit;
        v_from := 1;
        v_to := pg_catalog.cardinality(v_ids);
        while v_from operator(pg_catalog.<=) pg_catalog.cardinality(v_ids) loop
            v_code := null;
            begin
                perform core_node.run_sql(
                    v_consumer, 'nexus_sql', v_ids[v_from:v_to], v_cts[v_from:v_to], v_ats[v_from:v_to],
                    p_owner => v_owner);
                set constraints all immediate;
            exception when others then
                v_code := sqlstate;
                v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
            end;
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
            if v_code is not null and v_to operator(pg_catalog.>) v_from then
                v_to := v_from;
                continue;
            end if;
            -- NX301: somebody else has it by now.
            if v_code operator(pg_catalog.<>) 'NX301' then
                perform core_node.fail_sql(
                    v_consumer, 'nexus_sql', v_ids[v_from:v_to], v_cts[v_from:v_to], v_ats[v_from:v_to],
                    'commit', v_error, v_owner);
                commit;
            end if;
            v_from := v_to operator(pg_catalog.+) 1;
            v_to := v_from;
        end loop;
        v_last := v_consumer;
        exit when pg_catalog.clock_timestamp() operator(pg_catalog.>=) v_end;
    end loop;
end $$;
comment on procedure core.work_all(interval) is 'For nexus_sql, whose pg_cron job calls it: runs due deliveries of SQL handlers for about p_for, a second of each consumer in turn, each in a transaction of its own. Raises 25001, 55000, NX401.';
