-- Groups are counted from the index alone. A reason may be longer than an entry of an index: the few that are have one of their own.
create index dead_letters_groups_idx on core.dead_letters (namespace, event_type, consumer, source_kind, reason, failed_at)
    where resolved_at is null and octet_length(reason) <= 200;
create index dead_letters_long_reasons_idx on core.dead_letters (namespace) where resolved_at is null and octet_length(reason) > 200;
