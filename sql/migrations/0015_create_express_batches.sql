-- What nodes have in hand without a lease, and what they died of.

create table core_private.express_batches (
    queue_name  text not null,
    marker_id   bigint generated always as identity,
    lock_key    bigint not null,
    node_id     text not null,
    lowest      bigint not null,
    highest     bigint not null,
    msg_ids     bigint[],
    opened_at   timestamptz not null,
    died_at     timestamptz,
    primary key (queue_name, marker_id)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
comment on table core_private.express_batches is 'One row an express batch in hand: written on another connection before handlers run, removed by the batch''s own transaction. A row whose lock is free belongs to a node that died.';
comment on column core_private.express_batches.lock_key is 'The advisory lock that the batch''s transaction holds.';
comment on column core_private.express_batches.msg_ids is 'The messages, where lowest and highest say too little.';
comment on column core_private.express_batches.died_at is 'When the death was noticed. Until five minutes after the latest one the consumer uses leases.';
