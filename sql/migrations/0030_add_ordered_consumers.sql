-- Events in lanes, and lanes that are cut anew while they are at work. See design.md, Lanes.

alter table core_private.lane_messages add headers jsonb;
comment on column core_private.lane_messages.headers is 'Of an event on its way to an ordered consumer, what its emitter gave; NULL: nothing.';

create table core_private.lane_cuts (
    consumer_id  integer not null references core.consumers on delete cascade,
    generation   integer not null,
    awaited      text[],
    primary key (consumer_id, generation)
);
comment on table core_private.lane_cuts is 'Lanes that are to end: those of later generations wait until everything in them has.';
comment on column core_private.lane_cuts.consumer_id is 'Whose lanes.';
comment on column core_private.lane_cuts.generation is 'Which of its lanes.';
comment on column core_private.lane_cuts.awaited is 'Transactions that may still enqueue to them; NULL: nobody has looked yet.';

comment on column core.consumers.kind is 'unordered: a queue of its own. ordered: lanes of events. outbox: lanes of what is enqueued.';
comment on column core_private.consumer_lanes.generation is 'Grows each time the lanes of the consumer are cut anew. The latest take what comes.';

alter type core_private.lane_owner add attribute generation integer;
alter type core_private.lane_owner add attribute events boolean;

insert into core.error_codes (code, meaning, remedy) values
    ('NX225', 'ordered consumers have no such thing', 'Leave it out, or have an unordered consumer: order leaves no room for delays, rates, levels and express.');
