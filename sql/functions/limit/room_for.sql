-- The only place that says how much a limited consumer may take. Whoever asks holds the lock from then on, so that the
-- next one sees what was leased, and by a clock that was read after that.
--
-- Claims note the ids that they lease, and how many are in flight at most: the sum of what was claimed since they were
-- last counted. Only where that leaves too little room are they counted again, each by its id. So a high limit is
-- almost free, and a low one costs as many lookups as it has places. Claims that may have been under way when
-- max_in_flight was set are not noted, or not with all that was in flight: until one was noted well after, the queue
-- itself is asked.
--
-- The bucket holds one delivery and a second's worth: more would let a minute exceed its rate, less would lose what
-- comes up while a node sleeps. It is kept as the time at which it is full again.
create or replace function core_private.room_for(
    p_queue text, p_consumer_id integer, p_limit integer,
    out room integer, out held_by text, out every double precision, out noted core_private.limited_claims)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_consumer core.consumers;
    v_last     core_private.limited_claims;
    v_from     timestamptz;
    v_now      timestamptz;
    v_tokens   integer;
begin
    perform core_private.require_read_committed('a claim of a consumer with max_in_flight or rate');
    select l.counts_from into v_from
      from core_private.consumer_limits l
     where l.consumer_id = p_consumer_id
       for update skip locked;
    if not found then
        if not core_private.lock_limits(p_consumer_id) then
            room := 0; held_by := 'lock';
            return;
        end if;
        select l.counts_from into v_from from core_private.consumer_limits l where l.consumer_id = p_consumer_id;
    end if;
    v_now := core_private.now();
    select * into v_consumer from core.consumers c where c.consumer_id = p_consumer_id;
    select * into v_last
      from core_private.limited_claims c
     where c.consumer_id = p_consumer_id
     order by c.claim_no desc limit 1;
    room := p_limit;
    noted := row(p_consumer_id, coalesce(v_last.claim_no, 0) + 1, v_now, true, '{}'::bigint[], 0, v_now);

    if v_consumer.max_in_flight is not null then
        if v_last.claim_no is null or v_last.claimed_at < v_from + interval '1 minute' then
            noted.msg_ids := core_private.all_leased(p_queue, v_now);
            noted.at_most := cardinality(noted.msg_ids);
        elsif v_last.at_most + p_limit > v_consumer.max_in_flight then
            noted.msg_ids := core_private.still_leased(p_queue, core_private.noted_ids(p_consumer_id), v_now);
            noted.at_most := cardinality(noted.msg_ids);
        else
            noted.whole := false;
            noted.at_most := v_last.at_most;
        end if;
        if v_consumer.max_in_flight - noted.at_most < room then
            room := greatest(v_consumer.max_in_flight - noted.at_most, 0);
            held_by := 'max_in_flight';
        end if;
    end if;
    if v_consumer.rate is not null then
        every := core_private.seconds_each(v_consumer.rate);
        noted.full_at := core_private.full_at(v_last.full_at, every, v_now);
        v_tokens := core_private.tokens_at(v_now, noted.full_at, every);
        if v_tokens < room then
            room := v_tokens;
            held_by := 'rate';
        end if;
    end if;
end $$;
comment on function core_private.room_for(text, integer, integer) is 'How many of p_limit deliveries a limited consumer may claim now, what holds back the rest (max_in_flight; rate; lock, if another claim is not through), the seconds from one to the next by its rate, and the note of the claim, to be completed by core_private.note_claim. Raises 55000.';
