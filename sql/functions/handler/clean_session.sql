-- DISCARD ALL in its parts, since it refuses to run in a procedure. Settings go first, since one of them may forbid the
-- transactions that follow to write. Not pinned, since it commits; what it looks up is qualified.
create or replace procedure core_node.clean_session()
language plpgsql
as $$
begin
    perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false);
    reset all;
    perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false);
    commit;
    execute 'close all';
    execute 'deallocate all';
    execute 'unlisten *';
    execute 'discard sequences';
    execute 'discard temp';
    perform pg_catalog.pg_advisory_unlock_all();
    commit;
end $$;
comment on procedure core_node.clean_session() is 'For nexus_sql: leaves nothing of what a function left in the session for the next one.';
