-- Autovacuum, ANALYZE, VACUUM, REFRESH MATERIALIZED VIEW, CREATE INDEX, REINDEX and CLUSTER run functions of a
-- table's owner in the session of another user, as a security-restricted operation. There session_user is not the
-- role that asks. Postgres refuses UNLISTEN in such an operation; elsewhere UNLISTEN of a channel that has no
-- listener costs almost nothing. The function is volatile, as the statement requires; its text is all that the error
-- shows.
create or replace function core_private.refuse_borrowed_session()
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    unlisten nexus_needs_a_session_of_the_callers_own;
end $$;
comment on function core_private.refuse_borrowed_session() is 'Raises 42501 in a security-restricted operation, where the session is not the caller''s own.';
