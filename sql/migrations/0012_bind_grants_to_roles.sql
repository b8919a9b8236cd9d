-- A grant is a role's, not a name's: a later role of the same name has nothing of it. regrole, since dumps write its name.
alter table core.namespace_grants add column role regrole;
update core.namespace_grants g set role = (select r.oid from pg_roles r where r.rolname = g.role_name);
delete from core.namespace_grants where role is null;
alter table core.namespace_grants alter column role set not null;
alter table core.namespace_grants drop constraint namespace_grants_pkey;
alter table core.namespace_grants add primary key (namespace, role, duty);
comment on table core.namespace_grants is 'Who may do what in a restricted namespace. Written by core.grant_namespace and core.revoke_namespace.';
comment on column core.namespace_grants.role is 'Who holds it. A number where the role has been dropped: such a grant counts for nobody, and a sweep removes it.';
comment on column core.namespace_grants.role_name is 'What the role was called when it was given the grant.';
