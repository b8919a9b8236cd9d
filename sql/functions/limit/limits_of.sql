-- As in core_private.count_queue, a queue that somebody has locked is not waited for, and the lock is given back at
-- once.
create or replace function core_private.limits_of(p_consumer_id integer)
returns table (in_flight integer, tokens integer)
language plpgsql stable security definer rows 1
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
    v_now      timestamptz := core_private.now();
    v_consumer core.consumers;
    v_full     timestamptz;
    v_every    double precision;
begin
    select * into v_consumer from core.consumers c where c.consumer_id = p_consumer_id;
    if v_consumer.rate is not null then
        select l.full_at into v_full
          from core_private.limited_claims l
         where l.consumer_id = p_consumer_id
         order by l.claim_no desc limit 1;
        v_every := core_private.seconds_each(v_consumer.rate);
        tokens := core_private.tokens_at(v_now, core_private.full_at(v_full, v_every, v_now), v_every);
    end if;
    if v_consumer.max_in_flight is not null
       and to_regclass(core_private.queue_relation(v_consumer.queue_name)) is not null then
        begin
            in_flight := cardinality(core_private.still_leased(
                v_consumer.queue_name, core_private.noted_ids(p_consumer_id), v_now));
            raise exception using errcode = 'NXEND', message = 'the locks end here';
        exception
            when sqlstate 'NXEND' or lock_not_available or undefined_table then
                null;
        end;
    end if;
    return next;
end $$;
comment on function core_private.limits_of(integer) is 'What a consumer with limits has in flight, and what its rate leaves room for. Whoever calls it has asked whether the caller may know.';
