-- Which ids a snapshot can have seen, so that what came on another server is told from it.

alter table core_private.lanes add column done_top bigint;
comment on column core_private.lanes.done_top is 'As cur_top: done sees none beyond. What was enqueued after a restore lies beyond it, whatever its transaction is called.';

update core_private.lanes l set done_top = coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0);

alter table core_private.lanes alter column done_top set not null;
