create or replace function core_private.replay(
    p_ids bigint[], p_payload jsonb, p_first_at timestamptz = null, p_gap interval = null)
returns table (dead_letter_id bigint, msg_id bigint)
language sql
set search_path = pg_catalog, pg_temp
as $$
    select r.dead_letter_id, r.msg_id from core_private.redeliver(p_ids, p_payload, p_first_at, p_gap) r
     union all
    select r.dead_letter_id, null from core_private.refire(p_ids, p_payload) r(dead_letter_id)
$$;
comment on function core_private.replay(bigint[], jsonb, timestamptz, interval) is 'Replays pending dead letters, each as its kind wants; returns those that could be, with the new message id where there is one. Scheduled events are due at once.';
