-- What limited consumers have in hand, over all nodes. Nothing here is updated: a row that changes with each claim would
-- be a chain of dead versions as soon as somebody holds back vacuum, and each claim would walk it.

create table core_private.consumer_limits (
    consumer_id  integer primary key references core.consumers on delete cascade,
    counts_from  timestamptz not null
);
comment on table core_private.consumer_limits is 'One row for each consumer with max_in_flight or rate. Its claims lock it, one after the other.';
comment on column core_private.consumer_limits.consumer_id is 'The consumer.';
comment on column core_private.consumer_limits.counts_from is 'Database clock when max_in_flight was set. Claims of before are not noted, and may go on for a moment.';

create table core_private.limited_claims (
    consumer_id  integer not null references core_private.consumer_limits on delete cascade,
    claim_no     bigint not null,
    claimed_at   timestamptz not null,
    whole        boolean not null,
    msg_ids      bigint[] not null,
    at_most      integer not null,
    full_at      timestamptz not null,
    primary key (consumer_id, claim_no)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
comment on table core_private.limited_claims is 'The latest claims of each limited consumer, back to the last one that had counted what is in flight. Read them through core.consumer_status.';
comment on column core_private.limited_claims.consumer_id is 'The consumer.';
comment on column core_private.limited_claims.claim_no is 'Counts up in the consumer.';
comment on column core_private.limited_claims.claimed_at is 'Database clock of the claim.';
comment on column core_private.limited_claims.whole is 'Whether msg_ids holds all that was in flight, so that no earlier row is needed.';
comment on column core_private.limited_claims.msg_ids is 'What it leased, and if it is whole what was in flight before.';
comment on column core_private.limited_claims.at_most is 'In flight after it were no more than these.';
comment on column core_private.limited_claims.full_at is 'When the bucket of the rate is full again if nothing is claimed.';

insert into core_private.consumer_limits (consumer_id, counts_from)
select c.consumer_id, clock_timestamp()
  from core.consumers c
 where c.max_in_flight is not null or c.rate is not null;

-- It says whether there are limits, too.
drop function if exists core_private.queue_owner(text, text, boolean);
