-- Not pinned and no definer, since it commits: a claim, and then what was claimed. It runs as nexus_sql, which may call
-- nothing but the three functions; what it looks up on its own is qualified. One owner a transaction. What a handler
-- leaves in the session is gone before the next.
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
    v_run      uuid;
    v_epoch    integer;
    v_token    uuid;
begin
    loop
        -- A compensation between two consumers, of which nothing is leased meanwhile.
        v_run := null;
        select u.run_id, u.epoch, u.token into v_run, v_epoch, v_token from core_node.claim_undo() u;
        commit;
        if v_run is not null then
            v_code := null;
            begin
                perform core_node.run_undo(v_run, v_epoch, v_token);
                set constraints all immediate;
            exception when others then
                v_code := sqlstate;
                v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
            end;
            commit;
            call core_node.clean_session();
            if v_code is not null then
                perform core_node.fail_undo(v_run, v_epoch, v_token, v_error);
                commit;
            end if;
        end if;
        v_consumer := null;
        select c.consumer_id, c.owner, c.ids, c.cts, c.ats
          into v_consumer, v_owner, v_ids, v_cts, v_ats
          from core_node.claim_sql(null, null, 50, v_last) c;
        exit when v_consumer is null and v_run is null;
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
            call core_node.clean_session();
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
        v_last := coalesce(v_consumer, v_last);
        exit when pg_catalog.clock_timestamp() operator(pg_catalog.>=) v_end;
    end loop;
end $$;
comment on procedure core.work_all(interval) is 'For nexus_sql, whose pg_cron job calls it: runs due deliveries of SQL handlers for about p_for, a second of each consumer in turn, and compensations of workflows that are in SQL, each in a transaction of its own. Raises 25001, 55000, NX401.';
