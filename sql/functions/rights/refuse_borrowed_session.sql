-- Autovacuum, ANALYZE, VACUUM, REFRESH MATERIALIZED VIEW, CREATE INDEX, REINDEX and CLUSTER run a table owner's
-- functions in the session of whoever runs them, as a security-restricted operation: session_user is not who asks.
-- Postgres lets nobody UNLISTEN there, and elsewhere it takes a microsecond to stop listening to what nobody listens
-- to. Volatile, as the statement asks; its text is all that the error shows.
create or replace function core_private.refuse_borrowed_session()
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    unlisten nexus_needs_a_session_of_the_callers_own;
end $$;
comment on function core_private.refuse_borrowed_session() is 'Raises 42501 in a security-restricted operation, where the session is not the caller''s own.';
