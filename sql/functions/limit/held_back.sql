-- A rate leaves room again for the next one when its bucket holds one: a second before it is full less one delivery.
create or replace function core_private.held_back(
    p_granted integer, p_held_by text, p_noted core_private.limited_claims, p_every double precision, p_taken integer)
returns table (
    outcome text, msg_id bigint, read_ct integer, message jsonb, headers jsonb,
    scanned_to bigint, last_read_at timestamptz)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    outcome := 'limited'; msg_id := 0; read_ct := p_granted;
    if coalesce(p_taken, 0) = p_granted then
        message := to_jsonb(p_held_by);
        scanned_to := case p_held_by
            when 'lock' then 50000
            when 'rate' then
                greatest(extract(epoch from p_noted.full_at - p_noted.claimed_at)
                         + coalesce(p_every * p_taken, 0) - 1, 0) * 1e6 end;
    end if;
    return next;
end $$;
comment on function core_private.held_back(integer, text, core_private.limited_claims, double precision, integer) is 'The row limited of a claim: how many its consumer''s limits left room for in read_ct, and if they were taken, what holds back the rest in message, and in scanned_to the microseconds until a rate leaves room for the next; NULL: once something is settled.';
