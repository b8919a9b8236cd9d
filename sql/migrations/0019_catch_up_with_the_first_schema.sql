-- Migrations 1 and 2 had an earlier edition, which databases may have been installed with. This brings those to where the later
-- edition begins; elsewhere it finds nothing to do.
alter table core.namespaces add column if not exists named_consumers boolean not null default false;
comment on column core.namespaces.named_consumers is 'Whether it has consumers besides "default". Kept by a trigger of core.consumers, so that emit looks for them only where there are any.';
update core.namespaces n set named_consumers = true
 where not n.named_consumers and exists (select from core.consumers c where c.namespace = n.namespace and c.name <> 'default');
alter table core.event_log drop constraint if exists event_log_depth_check;
-- It returned another type.
drop function if exists core_private.queue_sequence(text);

insert into core.error_codes (code, meaning, mend) values
    ('NX506', 'something was built on a function or view that the new version drops', 'Drop or change what the detail names, then nexus-node migrate up.');
