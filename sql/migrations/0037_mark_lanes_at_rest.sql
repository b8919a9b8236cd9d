-- Who looks for lanes with work need not ask each of thousands: it is known which had none, and what came since.

-- By transaction first, which finds what is late in a lane as well as the other way round did.
create index lane_messages_xid_idx on core_private.lane_messages (xid, lane_id, id);
drop index core_private.lane_messages_lane_xid_idx;

create table core_private.lane_looks (
    consumer_id  integer primary key references core.consumers on delete cascade,
    cluster      bigint not null,
    seen         pg_snapshot not null,
    lane_ids     integer[] not null
);
comment on table core_private.lane_looks is 'Of consumers with many lanes, which of these had work when all were looked at.';
comment on column core_private.lane_looks.consumer_id is 'Whose lanes.';
comment on column core_private.lane_looks.cluster is 'The server whose transaction ids seen is of.';
comment on column core_private.lane_looks.seen is 'All that this snapshot sees has ended in all lanes but those of lane_ids.';
comment on column core_private.lane_looks.lane_ids is 'The lanes that may have had something left.';
