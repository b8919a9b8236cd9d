-- What keeps a full partition of lanes, and whether its messages are gone already.

alter table core_private.lane_partitions
    add full_at timestamptz,
    add held_by integer,
    add emptied_at timestamptz,
    add tries integer not null default 0;
comment on column core_private.lane_partitions.full_at is 'Database clock when it was first seen that all its ids had been drawn; NULL before.';
comment on column core_private.lane_partitions.held_by is 'A lane that had messages left in it when that was last looked at; NULL: none had, or nobody has looked.';
comment on column core_private.lane_partitions.emptied_at is 'When its messages were removed, since the table of all lanes could not be locked to drop it; NULL: they are there.';
comment on column core_private.lane_partitions.tries is 'How often it could have been dropped but for that lock.';
