-- K1 to K4: what becomes of the rows of a watched table
-- holds: K1, K2, K3, K4
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_app login in role nexus_producer, nexus_consumer; create role t_writer login;
select core.create_namespace('shop', '{"max_payload_bytes": 200000}');
create schema app authorization t_app; grant usage on schema app to t_writer;
create function pg_temp.got(p_keys text[] default '{key,old,new,changed,omitted}') returns text[] language plpgsql as $$
declare v text[]; begin
  with gone as (delete from pgmq.q_core_events_shop__triggers returning msg_id, message)
  select coalesce(array_agg(regexp_replace(message ->> 'sourceType', '.*[.]', '') || (select coalesce(string_agg(' ' || (message -> 'payload' -> k)::text, '' order by n), '') from unnest(p_keys) with ordinality u(k, n) where message -> 'payload' -> k <> 'null') order by msg_id), '{}') into v from gone; return v; end $$;
set session authorization t_app; set search_path = tap, pg_catalog;
create table app.t (id integer primary key, a integer, g integer generated always as (a * 2) stored);
grant insert, update, delete, select on app.t to t_writer;
select isnt(core.create_trigger('shop', 'rows', '{"kv": {"collection": "rows.*"}}', 'go:mail'), null, 'a trigger');
select isnt(core.watch_table('shop', 'app.t', 'rows.t'), null, 'a table is watched');
reset session authorization;
set session authorization t_writer;
insert into app.t values (1, 1), (2, null);
reset session authorization;
select is(pg_temp.got(), '{"insert {\"id\": 1} {\"a\": 1, \"g\": 2, \"id\": 1}","insert {\"id\": 2} {\"a\": null, \"g\": null, \"id\": 2}"}', 'inserts, by who has no right in Nexus');
select is((select array_agg(distinct concat_ws(' ', event_type, principal, metadata)) from core.event_log), '{"kv.rows.t.insert t_writer {\"toTriggers\": true}"}', 'are logged, with who did it');
select is((select count(*)::int from pgmq.q_core_events_shop), 0, 'and go to no consumer');
insert into app.t values (1, 10), (5, 5) on conflict (id) do update set a = excluded.a;
select is(pg_temp.got(), '{"update {\"id\": 1} {\"a\": 1, \"g\": 2, \"id\": 1} {\"a\": 10, \"g\": 20, \"id\": 1} [\"a\", \"g\"]","insert {\"id\": 5} {\"a\": 5, \"g\": 10, \"id\": 5}"}', 'on conflict do update: one new, one old');
insert into app.t values (1, 99) on conflict do nothing;
update app.t set a = a where id = 1; update app.t set a = 0 where false;
select is(pg_temp.got(), '{}', 'what changes nothing is none');
update app.t set id = id + 100 where id < 3;
select is(pg_temp.got('{key,old}'), '{"update {\"id\": 101} {\"a\": 10, \"g\": 20, \"id\": 1}","update {\"id\": 102} {\"a\": null, \"g\": null, \"id\": 2}"}', 'a key that changes');
with u as (update app.t set a = 1000 where id = 101 returning id) update app.t set a = 2000 where id = 5 and exists (select from u);
select is(cardinality(pg_temp.got()), 2, 'two updates of a table in a statement');
delete from app.t where id = 102;
select is(pg_temp.got(), '{"delete {\"id\": 102} {\"a\": null, \"g\": null, \"id\": 102}"}', 'a delete');
truncate app.t;
select is(pg_temp.got(), '{truncate}', 'a truncate has no rows');
select core.create_trigger('shop', 'gone', '{"kv": {"collection": "rows.t", "ops": ["delete"]}}', 'go:mail'); truncate app.t;
select is(pg_temp.got(), '{truncate,truncate}', 'and is one of delete');
-- renamed
alter table app.t rename a to b; alter table app.t rename to u;
insert into app.u values (1, 1);
select is(pg_temp.got('{new}'), '{"insert {\"b\": 1, \"g\": 2, \"id\": 1}"}', 'names may change');
alter table app.u rename b to a; alter table app.u rename to t;
-- a thousand at once, and each its own pair
insert into app.t select g, g from generate_series(2, 1000) g;
update app.t set a = a + 1;
select is((select count(*)::int from pgmq.q_core_events_shop__triggers where message ->> 'sourceType' ~ 'update' and (message #>> '{payload,new,a}')::int = (message #>> '{payload,old,a}')::int + 1 and message #> '{payload,new,id}' = message #> '{payload,key,id}' and message #> '{payload,old,id}' = message #> '{payload,key,id}'), 1000, 'a mutation each');
delete from pgmq.q_core_events_shop__triggers;
select core.disable_trigger('shop', 'gone');
update app.t set a = a;
select is(pg_temp.got(), '{}', 'nor does what changes nothing');
do $$ begin update app.t set a = 7; raise 'no'; exception when raise_exception then null; end $$;
select is(pg_temp.got(), '{}', 'what is rolled back leaves none');
-- triggers with columns and filters
select core.disable_trigger('shop', 'rows');
delete from core.event_log;
update app.t set a = 7 where id = 1;
select is((select count(*)::int from core.event_log), 0, 'where nothing fires nothing is logged');
select core.create_trigger('shop', 'of', '{"kv": {"collection": "rows.t", "ops": ["update"], "columns": ["a"], "contains": {"new": {"id": 2}}}}', 'go:mail');
update app.t set a = a + 1; update app.t set id = -2 where id = 2; update app.t set id = 2 where id = -2;
select is(pg_temp.got('{key}'), '{"update {\"id\": 2}"}', 'columns and filters');
select is((select count(*)::int from core.event_log), 1, 'only what fires is logged');
select core.enable_trigger('shop', 'rows'), core.disable_trigger('shop', 'of');
-- cascades, no key
set session authorization t_app; set search_path = tap, pg_catalog;
create table app.parent (id integer primary key); create table app.child (a integer references app.parent on delete cascade);
select core.watch_table('shop', 'app.child', 'rows.child');
insert into app.parent values (1); insert into app.child values (1), (1); delete from app.parent;
reset session authorization;
select is(pg_temp.got(), '{"insert {\"a\": 1}","insert {\"a\": 1}","delete {\"a\": 1}","delete {\"a\": 1}"}', 'cascades, and rows that are equal and without a key');
set session authorization t_app; set search_path = tap, pg_catalog;
create table app.keyed (a integer, b text not null unique); alter table app.keyed replica identity using index keyed_b_key;
create table app.given (a integer, b text, c text);
select core.watch_table('shop', 'app.keyed', 'rows.keyed'), core.watch_table('shop', 'app.given', 'rows.given', '{"key": ["b"], "columns": ["a"], "ops": ["update"], "unchanged": true}');
insert into app.keyed values (1, 'x'); insert into app.given values (1, 'x', 'y'); update app.given set c = 'z'; update app.given set a = 2; delete from app.given;
reset session authorization;
select is(pg_temp.got(), '{"insert {\"b\": \"x\"} {\"a\": 1, \"b\": \"x\"}","update {\"b\": \"x\"} {\"a\": 1, \"b\": \"x\"} {\"a\": 1, \"b\": \"x\"} []","update {\"b\": \"x\"} {\"a\": 1, \"b\": \"x\"} {\"a\": 2, \"b\": \"x\"} [\"a\"]"}', 'replica identity, a key that is given, some columns and ops, and updates that change nothing');
-- what a payload does not take
set session authorization t_app; set search_path = tap, pg_catalog;
create domain app.d as json;
create table app.odd (id integer primary key, f float8, n numeric, b bytea, j json, d app.d, arr json[], c app.given, e text);
select core.watch_table('shop', 'app.odd', 'rows.odd');
insert into app.odd (id, f, n, b) values (1, 'NaN', 'infinity', '\x00ff'), (2, '-infinity', 'NaN', '');
reset session authorization;
select is(pg_temp.got('{new,omitted}'), array['insert {"b": "\\x00ff", "c": null, "d": null, "e": null, "f": "NaN", "j": null, "n": "Infinity", "id": 1, "arr": null}', 'insert {"b": "\\x", "c": null, "d": null, "e": null, "f": "-Infinity", "j": null, "n": "NaN", "id": 2, "arr": null}'], 'NaN, infinity and bytes');
insert into app.odd (id, j) values (3, '"\u0000"'); insert into app.odd (id, d) values (4, '"\u0000"'); insert into app.odd (id, arr) values (5, array['"\u0000"'::json]); insert into app.odd (id, n) values (6, '1e400'); insert into app.odd (id, j) values (7, '1e400000'); insert into app.odd (id, j) values (8, (repeat('[', 1500) || repeat(']', 1500))::json); insert into app.odd (id, e) values (9, repeat('x', 300000));
select is(pg_temp.got('{key,new,omitted}'), '{"insert [\"key\", \"new\"]","insert [\"key\", \"new\"]","insert [\"key\", \"new\"]","insert {\"id\": 6} [\"old\", \"new\"]","insert [\"key\", \"new\"]","insert {\"id\": 8} [\"old\", \"new\"]","insert {\"id\": 9} [\"old\", \"new\"]"}', 'what no payload takes is left out');
update app.odd set e = 'x' where id = 3; update app.odd set n = 1 where id = 6; delete from app.odd where id in (4, 8);
select is(pg_temp.got('{key,new,omitted}'), '{"update [\"key\", \"old\", \"new\"]","update {\"id\": 6} [\"old\", \"new\"]","delete [\"key\", \"old\"]","delete {\"id\": 8} [\"old\", \"new\"]"}', 'at all ops');
insert into app.odd (id, j) select g, '"\u0000"' from generate_series(20, 29) g; insert into app.odd (id, n) select g, '1e400' from generate_series(30, 39) g;
select is((select array_agg(n) from (select message #>> '{payload,omitted}' || count(*) as n from pgmq.q_core_events_shop__triggers group by message #>> '{payload,omitted}' order by 1) x), '{"[\"key\", \"new\"]10","[\"old\", \"new\"]10"}', 'nor many at once');
delete from pgmq.q_core_events_shop__triggers;
-- a cast to json would run as the owner of Nexus
set session authorization t_app; set search_path = tap, pg_catalog;
create type app.pair as (x integer, y integer);
create table app.pairs (id integer primary key, p app.pair);
select core.watch_table('shop', 'app.pairs', 'rows.pairs');
create table app.ran (who text); grant all on app.ran to public; grant usage on schema app to public;
create function app.evil(app.pair) returns json language plpgsql as $$ begin insert into app.ran values (current_user); return '1'; end $$;
create cast (app.pair as json) with function app.evil(app.pair);
insert into app.pairs values (1, '(1,2)');
reset session authorization;
select is((select count(*)::int from app.ran), 0, 'no code of others runs as Nexus');
select is(pg_temp.got('{new,omitted}'), '{"insert [\"key\", \"new\"]"}', 'and the row is left out');
-- nor one of an enum, also below arrays, rows and domains
set session authorization t_app; set search_path = tap, pg_catalog;
create type app.mood as enum ('sad'); create type app.deep as (x integer, moods app.mood[]); create domain app.deeper as app.deep;
create function app.evil(app.mood) returns json language plpgsql as $$ begin insert into app.ran values (current_user); return '1'; end $$;
create cast (app.mood as json) with function app.evil(app.mood);
create type app.calm as enum ('calm'); create table app.calms (id integer primary key, c app.calm[]); select core.watch_table('shop', 'app.calms', 'rows.calms'); insert into app.calms values (1, '{calm}');
create table app.moods (id integer primary key, m app.mood); create table app.deeps (id integer primary key, d app.deeper);
select core.watch_table('shop', 'app.moods', 'rows.moods'), core.watch_table('shop', 'app.deeps', 'rows.deeps');
insert into app.moods values (1, 'sad'); insert into app.moods select g, 'sad' from generate_series(2, 20) g; insert into app.deeps values (1, row(1, '{sad}')::app.deep);
reset session authorization;
select is((select count(*)::int from app.ran), 0, 'no code of an enum runs as Nexus');
select is((select array_agg(distinct g) from unnest(pg_temp.got('{new,omitted}')) g), '{"insert [\"key\", \"new\"]","insert {\"c\": [\"calm\"], \"id\": 1}"}', 'and those rows are left out, no others');
-- columns of any name, in few rows and in many
set session authorization t_app; set search_path = tap, pg_catalog;
create table app.names (id integer primary key, n integer, o text, r integer, j integer, "new" integer, "it's %1$s" integer, "nexus.row" integer);
select core.watch_table('shop', 'app.names', 'rows.names');
select core.create_trigger('shop', 'named', '{"kv": {"collection": "rows.names", "ops": ["update"], "columns": ["o"]}}', 'go:mail');
insert into app.names select g, g from generate_series(1, 20) g; update app.names set r = 1; update app.names set "it's %1$s" = 1, o = 'x' where id = 1; delete from app.names where id = 2; delete from app.names;
reset session authorization;
select is((select array_agg(concat_ws(' ', op, n, changed) order by op, n) from (select message ->> 'sourceType' as op, message #>> '{payload,changed}' as changed, count(*) as n from pgmq.q_core_events_shop__triggers group by 1, 2) x), array['kv.rows.names.delete 20', 'kv.rows.names.insert 20', 'kv.rows.names.update 2 ["it''s %1$s", "o"]', 'kv.rows.names.update 20 ["r"]'], 'names');
delete from pgmq.q_core_events_shop__triggers;
-- all digits, whatever the writer's session shows
-- what the writer's session asks for of times, intervals, bytes and ranges makes no other mutation
set session authorization t_app; set search_path = tap, pg_catalog;
create table app.said (id integer primary key, at timestamptz, n interval, b bytea, r tstzrange, ts timestamptz[], m money);
create table app.said_parts (like app.said) partition by range (id); create table app.said_part partition of app.said_parts for values from (0) to (1000);
select core.watch_table('shop', 'app.said', 'rows.said'), core.watch_table('shop', 'app.said_parts', 'rows.said');
create function pg_temp.says(p_table regclass) returns void language plpgsql as $$ begin
  execute format('with x as (select ''2030-01-02 03:04:05Z''::timestamptz as t) insert into %s select g, t, make_interval(months => 14, days => 3, secs => 4.5), ''\x00ff'', tstzrange(t, t + ''1 d''), array[t], 12.5::numeric::money from x, generate_series(1, 12) g', p_table);
  execute format('update %s set at = at where id = 1; delete from %1$s where id = 1; delete from %1$s', p_table); end $$;
set timezone = 'Asia/Tokyo'; set datestyle = 'German'; set intervalstyle = 'iso_8601'; set bytea_output = 'escape'; select pg_temp.says('app.said'), pg_temp.says('app.said_parts');
set timezone = 'America/Lima'; set datestyle = 'SQL, DMY'; set intervalstyle = 'sql_standard'; select pg_temp.says('app.said'), pg_temp.says('app.said_parts');
reset timezone; reset datestyle; reset intervalstyle; reset bytea_output; select pg_temp.says('app.said'), pg_temp.says('app.said_parts');
reset session authorization;
select is((select array_agg(distinct coalesce(nullif(message #> '{payload,new}', 'null'), message #> '{payload,old}') - 'id') || to_jsonb(count(*)) from pgmq.q_core_events_shop__triggers where message #>> '{payload,collection}' = 'rows.said'),
  array['{"at": "2030-01-02T03:04:05+00:00", "b": "\\x00ff", "m": "$12.50", "n": "1 year 2 mons 3 days 00:00:04.5", "r": "[\"2030-01-02 03:04:05+00\",\"2030-01-03 03:04:05+00\")", "ts": ["2030-01-02T03:04:05+00:00"]}', '144']::jsonb[], 'one row, one mutation, whoever writes it');
-- there may be one locale only
select is((select array_agg(p.proname::text order by p.proname) from pg_proc p where p.pronamespace = 'core_node'::regnamespace and 'lc_monetary=C' = any (p.proconfig)), '{note_row,note_rows}', 'nor has money another sign');
delete from pgmq.q_core_events_shop__triggers;
set session authorization t_app; set search_path = tap, pg_catalog;
create table app.floats (id integer primary key, f float8);
select core.watch_table('shop', 'app.floats', 'rows.floats');
set extra_float_digits = -12; insert into app.floats select g, 0.123456 from generate_series(1, 20) g; update app.floats set f = 0.123457 where id = 1; update app.floats set f = 0.123457; reset extra_float_digits;
reset session authorization;
select is((select array_agg(distinct concat_ws(' ', message #>> '{payload,op}', message #>> '{payload,old,f}', message #>> '{payload,new,f}')) || count(*)::text from pgmq.q_core_events_shop__triggers), '{insert 0.123456,update 0.123456 0.123457,40}', 'floats');
delete from pgmq.q_core_events_shop__triggers;
-- ordinary events as well
set session authorization t_app; set search_path = tap, pg_catalog;
select core.create_trigger('shop', 'events', '{"event": {"pattern": "kv.rows.loud.*"}}', 'go:event');
create table app.loud (id integer primary key);
select core.watch_table('shop', 'app.loud', 'rows.loud', '{"emit": true}');
insert into app.loud values (1), (2);
reset session authorization;
select is((select array_agg(message ->> 'eventType' order by msg_id) from pgmq.q_core_events_shop), '{kv.rows.loud.insert,kv.rows.loud.insert}', 'emit: consumers get it');
select is((select array_agg(n order by n) from (select concat_ws(' ', message ->> 'eventType', count(distinct message ->> 'eventUid'), count(*)) as n from pgmq.q_core_events_shop__triggers group by message ->> 'eventType') x), '{"go:event 2 2","go:mail 2 2"}', 'and triggers of both kinds');
select is((select count(*)::int from core.event_log where event_type ~ 'loud' and metadata ? 'messageId'), 2, 'it is one event');
delete from pgmq.q_core_events_shop__triggers;
-- depth
set local nexus.cause = '8 019a2b4c-0000-7000-8000-000000000001';
update app.t set a = a + 1 where id < 12; update app.t set a = a + 1 where id = 1;
select is((pg_temp.got(), (select array_agg(concat_ws(' ', event_type, deliveries) order by drop_id) from core.trigger_drops))::text, '({},"{""kv.rows.t.update 11"",""kv.rows.t.update 1""}")', 'what a handler does to a table ends');
set local nexus.cause = '';
-- off
select core.switch_watch((select watch_id from core.watched_tables where collection = 'rows.t'), false);
update app.t set a = a + 1 where id < 3;
select is(pg_temp.got(), '{}', 'switched off');
-- no trigger in the namespace
reset session authorization;
select core.create_namespace('still');
set session authorization t_app; set search_path = tap, pg_catalog;
create table app.s (id integer primary key);
select core.watch_table('still', 'app.s', 's', '{"emit": true}');
insert into app.s values (1);
reset session authorization;
select is((select array_agg(message ->> 'eventType') from pgmq.q_core_events_still), '{kv.s.insert}', 'what is emitted takes no trigger');
