-- What was emitted before the consumer or the trigger was there bears an older generation, however late it commits. So
-- it waits for whoever may still emit with one, and then takes the log in order of event_id, up to the last id of then:
-- what is not there now will never be. Rows of other namespaces count, so that the work of a step is bounded.
--
-- Position and deliveries commit together: after a kill it goes on where it was.
create or replace function core_private.run_backfill(p_backfill_id bigint, p_limit integer)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now  timestamptz := core_private.now();
    v_step record;
    b      core_private.backfills;
begin
    select * into b from core_private.backfills x where x.backfill_id = p_backfill_id for update skip locked;
    if not found then
        return 'busy';
    elsif b.state = 'done' then
        return b.state;
    end if;
    if b.state = 'waiting' then
        b.awaited := case when b.awaited is null then core_private.alive_transactions()
                          else array(select unnest(b.awaited)
                                     intersect
                                     select unnest(core_private.alive_transactions())) end;
        if b.awaited <> '{}' then
            update core_private.backfills x set awaited = b.awaited where x.backfill_id = p_backfill_id;
            return 'waiting';
        end if;
        b.bound := (select s.last_value from core.event_id_seq s);
    end if;
    if b.trigger_id is null then
        select * into v_step from core_private.backfill_consumer(b, p_limit, v_now);
    else
        select * into v_step from core_private.backfill_trigger(b, p_limit, v_now);
    end if;
    if v_step.hindered is not null then
        return v_step.hindered;
    end if;
    update core_private.backfills x
       set state = case when v_step.reached is null then 'done' else 'running' end, awaited = '{}', bound = b.bound,
           position = coalesce(v_step.reached, b.bound),
           looked = x.looked + v_step.looked, delivered = x.delivered + v_step.delivered,
           paced_to = v_step.paced_to, finished_at = case when v_step.reached is null then v_now end
     where x.backfill_id = p_backfill_id
    returning x.state into b.state;
    return b.state;
end $$;
comment on function core_private.run_backfill(bigint, integer) is 'One step of a backfill, of up to p_limit rows of the log. Returns waiting (for transactions of before), running, done, busy (somebody else is at it), lost queue, disabled (its trigger), or paced (its rate is used up).';
