-- Settings belong to no namespace. The policy is made anew by core_private.secure_rows.

alter table core.audit_log alter column namespace drop not null;
comment on table core.audit_log is 'What people did to what Nexus keeps, whichever tool did it; written by the functions that did it, kept 400 days.';
comment on column core.audit_log.namespace is 'The namespace it was done in; NULL for what belongs to none, as settings of the database.';
drop policy if exists visible on core.audit_log;
