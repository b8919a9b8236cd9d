create or replace view core.request_status with (security_invoker = true) as
select i.inbox_id, i.namespace, i.target,
       case when i.expires_at <= (select core.now()) and i.state <> 'answered' then 'expired' else i.state end as state,
       i.status, i.error, i.event_uid, i.requested_by, i.requested_at, i.expires_at, i.started_at, i.answered_at
  from core.inbox i;
comment on view core.request_status is 'Requests whose reply was not taken yet.';
comment on column core.request_status.inbox_id is 'What core.request returned.';
comment on column core.request_status.namespace is 'The namespace of the request.';
comment on column core.request_status.target is 'The key of the handler.';
comment on column core.request_status.state is 'waiting: for a node; running: begun by one; answered: for whoever asked to take it; expired: out of time, until a sweep removes it.';
comment on column core.request_status.status is '200 with a reply, else what went wrong; NULL until it is answered.';
comment on column core.request_status.error is 'What went wrong.';
comment on column core.request_status.event_uid is 'The event that the request is in the log; NULL: no live node had the handler.';
comment on column core.request_status.requested_by is 'Who asked: the session user, with the role set, if any.';
comment on column core.request_status.requested_at is 'When.';
comment on column core.request_status.expires_at is 'Until then it may begin, and be answered.';
comment on column core.request_status.started_at is 'When a node began it.';
comment on column core.request_status.answered_at is 'When it was answered.';
