-- Whatever changes the state of a cursor changes when it is due as well, which is indexed: so this index takes from no
-- change of a cursor that it is written beside the old version. It holds parked ones alone.
create index workflow_cursors_parked_idx on core_private.workflow_cursors (def_id) where state = 'P';
