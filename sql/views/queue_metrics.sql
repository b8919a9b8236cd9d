create or replace view core.queue_metrics as
select m.queue_name, m.queue_length, m.newest_msg_age_seconds, m.oldest_msg_age_seconds, m.visible, m.in_flight, m.waiting, m.delayed, m.parked, m.length_is_estimate
  from core_private.queue_metrics() m;
comment on view core.queue_metrics is 'One row a queue: length, ages, and how many wait for what. Exact up to 10,000 messages, estimates beyond; NULL while somebody holds a lock on the queue that forbids reading.';
