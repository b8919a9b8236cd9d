-- C2, C3: changed patterns take what is in the log on request, and what they have had not again
-- holds: C2, C3
select core.create_namespace('shop');
create function pg_temp.emits(p_suffix text) returns void language sql as $$ select core.emit('shop', t || p_suffix) from unnest('{a.,b.,c.}'::text[]) t $$;
create function pg_temp.alter(p_patterns text[], p_options jsonb = '{}') returns bigint language sql as $$ select core.alter_consumer('shop', 'mail', p_patterns, p_options) $$;
create function pg_temp.ran() returns text[] language plpgsql as $$ begin
  update core_private.backfills set awaited = '{}' where awaited is null;
  perform core_private.run_backfills();
  return (select array_agg(message ->> 'eventType' order by message ->> 'eventType') from pgmq.q_core_events_shop__mail); end $$;
select pg_temp.emits('0');
select core.create_consumer('shop', 'mail', '{a.*}');
select pg_temp.emits('1');
select pg_temp.alter('{b.*}');
select pg_temp.emits('2');
select is(pg_temp.ran(), '{a.1,b.2}', 'nothing is asked for');
select pg_temp.alter('{a.*,b.*}', '{"backfill": "beginning"}');
select is(pg_temp.ran(), '{a.0,a.1,a.2,b.0,b.1,b.2}', 'what it had not got');
select pg_temp.alter(null, '{"backfill": "beginning"}');
select is(pg_temp.ran(), '{a.0,a.1,a.2,b.0,b.1,b.2}', 'nothing again');
select pg_temp.emits('3');
select pg_temp.alter('{a.*,b.*,c.*}', '{"backfill": "beginning"}');
select pg_temp.alter('{c.1,c.2,b.*}', '{"drop_unmatched": true}');
select is(pg_temp.ran(), '{b.0,b.1,b.2,b.3,c.1,c.2}', 'a backfill that is under way is narrowed, too');
select throws_ok($$select core.alter_consumer('shop', 'default', null, '{"backfill": "beginning"}')$$, 'NX005', null, 'default has had all');
