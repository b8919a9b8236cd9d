-- The names of time zones that tasks may use, and what the server's zone data says about each.
create table core_private.timezones (
    name        text primary key,
    window_from timestamp not null,
    changes     text not null,
    changed_at  timestamptz
);
comment on table core_private.timezones is 'Time zones that tasks may use; kept by core_private.refresh_timezones.';
comment on column core_private.timezones.window_from is 'Begin of the two years, in UTC, that changes covers.';
comment on column core_private.timezones.changes is 'Offsets within the window, to notice new zone data by.';
comment on column core_private.timezones.changed_at is 'When new rules for the zone were noticed last; slots computed before are void.';
create unique index timezones_fold_idx on core_private.timezones (lower(name collate "C"));
insert into core.error_codes (code, meaning, mend) values
    ('NX011', 'cron expression', 'The message names the field and the position, the hint what to write.'),
    ('NX012', 'time zone', 'Use an IANA name, such as "Europe/Berlin", or "UTC".');
