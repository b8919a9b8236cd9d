-- The one writer of the ledger, as text. A function that gives something up makes it part of its statement: a set of
-- rows cannot be handed to a function without a copy, and the payloads of one burial may be larger than any array.
--
-- The CTE dead has a row for each thing given up, with the columns that are named below. Its source_ref says what the
-- thing is among those of its kind. position orders the rows, and so their ids. Only what was a message, and so has
-- a msg_id, leaves a row in the history of attempts.
--
-- A source can be given up again, after a replay or a resend by hand. Each time is a round.
--
-- What is to happen with every dead letter follows the CTE ledger, which returns the ids.
create or replace function core_private.ledger_plan()
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select $q$
        ledger as (
            insert into core.dead_letters (
                namespace, consumer, event_type, source_kind, source_ref, round,
                queue_name, msg_id, dlq_msg_id, event_id, event_uid,
                payload, envelope, headers, body, body_type, lane, lane_seq,
                attempts, first_attempt_at, last_attempt_at, failed_at, reason, last_error,
                ordering_key, replay_of, replay_count)
            select d.namespace, d.consumer, d.event_type, d.source_kind, d.source_ref,
                   coalesce((select max(l.round) + 1
                               from core.dead_letters l
                              where l.source_kind = d.source_kind and l.source_ref = d.source_ref), 0)
                       + row_number() over (partition by d.source_ref order by d.position) - 1,
                   d.queue_name, d.msg_id, d.dlq_msg_id, d.event_id, d.event_uid,
                   d.payload, d.envelope, d.headers, d.body, d.body_type, d.lane, d.lane_seq,
                   d.attempts, d.first_attempt_at, d.last_attempt_at, d.failed_at, d.reason, d.last_error,
                   d.ordering_key, d.replay_of, d.replay_count
              from dead d
             order by d.position
            returning dead_letter_id),
        history as (
            insert into core.delivery_errors (
                namespace, consumer, queue_name, msg_id, event_id, event_uid, event_type,
                attempt, action, reason, error, node_id, failed_at, trigger_id)
            select d.namespace, d.consumer, d.queue_name, d.msg_id, d.event_id, d.event_uid, d.event_type,
                   d.attempts, 'bury', d.reason, d.last_error, d.node_id, d.failed_at,
                   core_private.uuid_if_valid(d.envelope ->> 'triggerId')
              from dead d
             where d.msg_id is not null)
        $q$
$$;
comment on function core_private.ledger_plan() is 'The part of a statement that writes what its CTE dead gives up into the ledger and the history: CTEs to follow it. The source_kind of a row of dead is one of core_private.source_kinds().';
