-- A transaction that ended while its session is there was ended by its handler.
alter table core_private.express_batches add column backend_pid integer;
comment on column core_private.express_batches.backend_pid is 'The backend that the transaction runs in; NULL where the node does not know it.';
drop function if exists core.open_express(text, text, bigint, bigint[], bigint);
