-- Records of what people did say from where.

alter table core.audit_log add column client_address inet;
comment on column core.audit_log.client_address is 'Where the session came from; NULL for one by a socket of the server''s machine.';

insert into core.error_codes (code, meaning, remedy) values
    ('NX403', 'the audit log takes no change',
        'Leave it as it is; its rows go after 400 days.');
