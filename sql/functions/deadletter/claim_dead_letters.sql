create or replace function core.claim_dead_letters(p_filter jsonb, p_for interval = '5 min')
returns table (
    dead_letter_id bigint, claim_token uuid, deadline timestamptz, payload jsonb, envelope jsonb, headers jsonb,
    body bytea, body_type text, attempts integer, last_error text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_ids bigint[];
    v_now timestamptz;
begin
    perform core_private.check_claim_time(p_for);
    v_ids := array(select l.dead_letter_id from core_private.filter_dead_letters(p_filter) l);
    v_now := core_private.now();
    return query
        with tokens as materialized (
            select i as id, gen_random_uuid() as token from unnest(v_ids) i),
        claimed as (
            update core.dead_letters l
               set status = 'reprocessing', claim_token = core_private.token_mark(t.token),
                   deadline = v_now + p_for, claimed_by = core_private.principal()
              from tokens t
             where l.dead_letter_id = t.id
            returning l.*, t.token)
        select c.dead_letter_id, c.token, c.deadline, c.payload, c.envelope, c.headers,
               c.body, c.body_type, c.attempts, c.last_error
          from claimed c
         order by c.dead_letter_id;
end $$;
comment on function core.claim_dead_letters(jsonb, interval) is 'Claims dead letters for a time, 1 second to 1 day, oldest first: until the deadline nobody moves them without the token. What somebody else holds is passed over; a claim whose time is over is none. End it with core.resolve_dead_letter, core.discard_dead_letter or core.replay_dead_letter, which take the token, or give it back with core.reject_dead_letter. Filter as for core.replay_dead_letters. Raises NX004, NX005, NX006, NX008, NX009, NX101, NX401, NX402.';
