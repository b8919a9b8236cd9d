-- A mark whose transaction has ended may be that of a node which lives and was only cut off.

alter table core_private.express_batches
    add column incarnation uuid,
    add column doubted_at timestamptz;
comment on column core_private.express_batches.incarnation is 'That of the node; NULL if it was not registered.';
comment on column core_private.express_batches.doubted_at is 'When the end of the transaction was noticed while the node might live: it has five seconds to take the mark back.';
