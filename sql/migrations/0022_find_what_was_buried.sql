-- So that a result that was buried is found by its message when it is sent again.
create index dead_letters_msg_id_idx on core.dead_letters (queue, msg_id) where source_kind = 'delivery';
