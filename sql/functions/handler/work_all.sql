-- Not pinned and no definer, since it commits: a claim, and then what was claimed. It runs as nexus_sql, which may call
-- nothing but the two functions; what it looks up on its own is qualified. One owner a session.
create or replace procedure core.work_all(p_for interval = '45 seconds')
language plpgsql
as $$
declare
    v_end      timestamptz := pg_catalog.clock_timestamp() operator(pg_catalog.+) p_for;
    v_consumer integer;
    v_owner    oid;
    v_ids      bigint[];
    v_cts      integer[];
    v_ats      timestamptz[];
begin
    loop
        v_consumer := null;
        select c.consumer_id, c.owner, c.ids, c.cts, c.ats
          into v_consumer, v_owner, v_ids, v_cts, v_ats
          from core_node.claim_sql(null, v_owner, 50) c;
        exit when v_consumer is null;
        commit;
        if v_ids is not null then
            perform core_node.run_sql(v_consumer, 'nexus_sql', v_ids, v_cts, v_ats);
            commit;
            perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false);
        end if;
        exit when pg_catalog.clock_timestamp() operator(pg_catalog.>=) v_end;
    end loop;
end $$;
comment on procedure core.work_all(interval) is 'For nexus_sql, whose pg_cron job calls it: runs due deliveries of SQL handlers of one owner, drawn by lot, for about p_for. Raises 25001, 55000, NX401.';
