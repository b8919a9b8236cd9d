-- Which broadcasts a cursor can have seen, so that what was emitted on another server of the same identifier is told from it.

alter table core_private.broadcast_cursors
    add column top bigint,
    add column judged bigint not null default 0;
comment on column core_private.broadcast_cursors.top is 'The last broadcast_id that was drawn when the later of seen and target was taken: neither sees one beyond. What another server emitted lies beyond it, whatever its transaction is called.';
comment on column core_private.broadcast_cursors.judged is 'Up to this broadcast_id it was said once, when the cursor was last set anew, what the node had not read.';

update core_private.broadcast_cursors c
   set top = coalesce(pg_sequence_last_value('core.broadcasts_broadcast_id_seq'), 0);

alter table core_private.broadcast_cursors alter column top set not null;
