-- The handlers of who asks, so that what they leave behind runs with the rights they have anyhow. Nothing is committed
-- before they run: a death of this session is no attempt.
create or replace function core.work(
    p_namespace text, p_limit integer = 100, p_search_path text = current_setting('search_path'),
    out handled integer, out retried integer, out buried integer, out released integer)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_floor    bigint;
    v_at_hand  integer[];
    v_id       integer;
    v_queue    text;
    v_ordered  boolean;
    v_keys     record;
    v_claim    record;
    v_run      record;
begin
    perform core_private.require_duty(p_namespace, 'consume');
    perform core_private.refuse_borrowed_session();
    perform core_private.require_read_committed('core.work');
    if p_limit is null or p_limit not between 1 and 10000 then
        raise exception using errcode = 'NX006', column = 'p_limit',
            message = format('p_limit cannot be %s', coalesce(p_limit::text, 'NULL')), hint = 'It lies in 1 to 10000.';
    end if;
    v_floor := case when pg_current_xact_id_if_assigned() is null
                    then coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0) end;
    handled := 0; retried := 0; buried := 0; released := 0;
    v_at_hand := array(
        select w.consumer_id from core_private.sql_work(p_namespace, session_user::regrole) w order by random());
    foreach v_id in array v_at_hand loop
        select coalesce(c.queue_name, core_private.outbox_key(c.namespace, c.name)), c.kind = 'ordered'
          into v_queue, v_ordered
          from core.consumers c
         where c.consumer_id = v_id;
        continue when not found or not core_private.sql_due(v_id, v_queue);
        select * into v_keys from core_private.keys_to_run(v_id, session_user::regrole, true);
        continue when v_keys.keys is null or not core_private.sql_due(v_id, v_queue, v_keys.keys);
        -- What is behind the events of an ordered one comes next.
        loop
            select c.* into v_claim
              from core_private.claim_for_sql(
                       v_id, session_user::regrole, v_keys.keys, p_limit - handled - retried - released,
                       interval '1 minute', v_floor, true) c;
            buried := buried + v_claim.buried;
            exit when v_claim.ids is null;
            select r.* into v_run
              from core_private.run_handler(v_id, session_user, v_claim.ids, v_claim.cts, v_claim.ats,
                                            interval '1 day', session_user::regrole) r;
            handled := handled + v_run.handled;
            retried := retried + v_run.retried;
            buried := buried + v_run.buried;
            released := released + v_run.released;
            exit when not v_ordered or v_run.released > 0 or handled + retried + buried + released >= p_limit;
        end loop;
        exit when handled + retried + buried + released >= p_limit;
    end loop;
    perform set_config('search_path', p_search_path, false);
    return;
end $$;
comment on function core.work(text, integer, text) is 'Runs the SQL handlers of the namespace that the session user owns, for up to p_limit due deliveries, in the caller''s transaction, and says what became of them. p_search_path is what the session is left with; leave it out. Raises 42501, 55000, NX006, NX101, NX401, NX402.';
