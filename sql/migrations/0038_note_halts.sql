-- A failure at which a lane stands is not tried again by itself.

alter table core.delivery_errors drop constraint delivery_errors_action_check;
alter table core.delivery_errors add constraint delivery_errors_action_check
    check (action in ('retry', 'halt', 'reject', 'bury'));
comment on column core.delivery_errors.action is 'What became of it: retry: it is tried again; halt: its lane stands at it; bury: it became a dead letter.';
