-- jsonb_build_object looks up the types of its keys again for each event; of a row they are known.
create type core_private.plain_message as (
    namespace        text,
    "eventType"      text,
    payload          jsonb,
    "emittedAt"      text,
    "producerNodeId" text,
    "eventId"        bigint,
    "eventUid"       uuid
);
comment on type core_private.plain_message is 'What the message of every event has; to_jsonb makes it of a row.';
