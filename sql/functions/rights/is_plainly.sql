-- What passes at once in calls that are made all the time: whoever this says no to is asked more closely, by
-- core_private.require_duty. Not pinned, so that it is inlined: a call would cost more than what it does. It names
-- everything in full.
create or replace function core_private.is_plainly(p_role name)
returns boolean
language sql stable parallel safe
as $$
    select pg_catalog.current_setting('role') operator(pg_catalog.=) 'none'
       and session_user operator(pg_catalog.<>) 'nexus_sql'::pg_catalog.name
       and pg_catalog.pg_has_role(session_user, p_role, 'member')
       and not pg_catalog.pg_has_role(session_user, 'nexus_admin', 'member')
$$;
comment on function core_private.is_plainly(name) is 'Whether the login acts for itself, is in a role, and is no administrator, so that in a namespace that is not restricted there is nothing more to ask.';
