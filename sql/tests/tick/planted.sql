-- The caller's path is put back after a tick that ran the partitions' upkeep. Nothing may be looked up in it: that would run as the
-- owner what the caller planted there.
-- holds: I3-paths
create schema trap;
create function trap.jsonb_build_object(text, jsonb) returns jsonb language plpgsql as $$ begin raise 'planted, as %', current_user; end $$;
create function trap.joined(jsonb, jsonb) returns jsonb language plpgsql as $$ begin raise 'planted, as %', current_user; end $$;
create operator trap.|| (leftarg = jsonb, rightarg = jsonb, function = trap.joined);
grant usage on schema trap, tap to public;
update core_private.sweeps set last_started_at = null;
set local role nexus_consumer;
select tap.ok(core.tick('trap, tap, pg_catalog') @> '{"ran": [{"sweep": "partitions"}]}', 'a consumer ticks, and the partitions had their upkeep');
select tap.is(current_setting('search_path'), 'trap, tap, pg_catalog', 'the session is left with the path it asked for');
