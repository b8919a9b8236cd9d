-- In batches, so that no statement is long. A run that has worked for a minute leaves the rest to the next one.
create or replace function core_private.apply_retention(p_limit integer = 10000)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now    timestamptz := core_private.now();
    v_stop   timestamptz := clock_timestamp() + interval '1 minute';
    v_closed text[] := core_private.closed_namespaces();
    v_errors integer := 0;
    v_dead   integer := 0;
    v_failed integer := 0;
    v_audit  integer := 0;
    v_done   integer;
    v_n      integer;
begin
    loop
        delete from core.delivery_errors e
         using (
            select x.error_id
              from core.delivery_errors x
             where x.failed_at < v_now - interval '7 days' and x.namespace <> all (v_closed)
             order by x.failed_at
             limit p_limit
               for update skip locked) old
         where e.error_id = old.error_id;
        get diagnostics v_n = row_count;
        v_errors := v_errors + v_n;
        exit when v_n < p_limit or clock_timestamp() > v_stop;
    end loop;
    loop
        -- A scheduled event that has failed goes with the last of its dead letters.
        with gone as (
            delete from core.dead_letters l
             using (
                select x.dead_letter_id
                  from core.dead_letters x
                 where x.resolved_at < v_now - interval '30 days' and x.namespace <> all (v_closed)
                 order by x.resolved_at
                 limit p_limit
                   for update skip locked) old
             where l.dead_letter_id = old.dead_letter_id
            returning l.dead_letter_id, l.namespace, l.source_kind, l.source_ref),
        failed as (
            delete from core.scheduled_events e
             using gone g
             where g.source_kind = 'task' and e.schedule_id = (g.source_ref ->> 'scheduleId')::uuid
               and e.namespace = g.namespace and e.status = 'failed'
               and not exists (
                   select
                     from core.dead_letters l
                    where l.source_kind = 'task' and l.namespace = g.namespace
                      and l.source_ref = g.source_ref
                      and l.dead_letter_id not in (select o.dead_letter_id from gone o))
            returning e.schedule_id)
        select (select count(*) from gone), (select count(*) from failed)
          into v_n, v_done;
        v_dead := v_dead + v_n;
        v_failed := v_failed + v_done;
        exit when v_n < p_limit or clock_timestamp() > v_stop;
    end loop;
    loop
        delete from core.audit_log a
         using (
            select x.audit_id
              from core.audit_log x
             where x.happened_at < v_now - interval '400 days' and x.namespace <> all (v_closed)
             order by x.happened_at
             limit p_limit
               for update skip locked) old
         where a.audit_id = old.audit_id;
        get diagnostics v_n = row_count;
        v_audit := v_audit + v_n;
        exit when v_n < p_limit or clock_timestamp() > v_stop;
    end loop;
    return jsonb_build_object(
        'delivery_errors', v_errors, 'dead_letters', v_dead, 'scheduled_events', v_failed, 'audit_log', v_audit,
        'nodes', core_private.forget_nodes());
end $$;
comment on function core_private.apply_retention(integer) is 'Removes failed attempts after 7 days, resolved dead letters after 30, with the scheduled events that ended in them, records of what people did after 400, nodes that are gone after 7; p_limit rows a statement.';
