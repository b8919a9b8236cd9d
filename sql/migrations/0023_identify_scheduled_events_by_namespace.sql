-- An id that somebody chose in one namespace neither blocks nor betrays the same id in another. Writes wait while the index is built.
alter table core.scheduled_events drop constraint scheduled_events_pkey;
alter table core.scheduled_events add primary key (schedule_id, namespace);
comment on column core.scheduled_events.schedule_id is 'The event_uid of the event to come. It is one event''s in its namespace.';
