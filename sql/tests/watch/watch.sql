-- K2, K5, K6: which tables can be watched, by whom, and what ends it
-- holds: K2, K5, K6
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_app login in role nexus_producer, nexus_consumer; create role t_other login in role nexus_producer; create role t_stranger login in role nexus_producer;
create role t_operator login in role nexus_operator; create role t_reader login in role nexus_reader; create role t_next login in role nexus_producer, nexus_consumer;
select core.create_namespace('shop'), core.create_namespace('closed', '{"restricted": true}'), core.grant_namespace('closed', 't_app', 'produce');
create schema app authorization t_app; grant usage on schema app to public;
create function pg_temp.said(p_table text, p_collection text = 'a', p_options jsonb = '{}', p_namespace text = 'shop') returns text language plpgsql as $$
declare v_column text; v_message text; begin
  perform core.watch_table(p_namespace, p_table::regclass, p_collection, p_options); return 'watched';
exception when others then get stacked diagnostics v_column = column_name, v_message = message_text; return concat_ws(' ', sqlstate, v_column, case when sqlstate = 'NX017' then v_message end); end $$;
create function pg_temp.locks(p_table regclass) returns text[] language sql as $$ select coalesce(array_agg(mode order by mode), '{}') from pg_locks where relation = p_table and pid = pg_backend_pid() and granted and mode ~ 'RowExclusive|AccessExclusive' $$;
create function pg_temp.got() returns text[] language plpgsql as $$
declare v text[]; begin
  with gone as (delete from pgmq.q_core_events_shop__triggers returning msg_id, message)
  select coalesce(array_agg(concat_ws(' ', regexp_replace(message ->> 'sourceType', '.*[.]', ''), nullif(message -> 'payload' -> 'old', 'null'), nullif(message -> 'payload' -> 'new', 'null')) order by msg_id), '{}') into v from gone; return v; end $$;
set session authorization t_app; set search_path = tap, pg_catalog;
create table app.t (id integer primary key, "A" integer); create view app.v as select 1 as a; create materialized view app.m as select 1 as a; create sequence app.s;
create temporary table temporary (a integer); create table app.p (id integer, k integer, v integer) partition by list (k); create table app.p1 partition of app.p for values in (1); create table app.p2 partition of app.p for values in (2);
create table app.up (a integer); create table app.down () inherits (app.up);
select is(pg_temp.said(t), 'NX017 p_table table ' || t || ' cannot be watched: ' || why, t) from (values ('app.v', 'it is a view'), ('app.m', 'it is a view'), ('app.s', 'it is no table'), ('temporary', 'it is temporary'), ('app.p1', 'it is a partition: watch app.p'), ('app.up', 'it inherits, or others inherit from it'), ('app.down', 'it inherits, or others inherit from it'), ('pg_class', 'it is one of Nexus or of Postgres')) x(t, why);
select is(pg_temp.said('app.t', p_options => o), e, o::text || ' is refused') from (values ('{"columns": ["a"]}'::jsonb, 'NX017 p_table table app.t has no column a'), ('{"key": ["b"]}', 'NX017 p_table table app.t has no column b'), ('{"columns": "A"}', 'NX005 columns'), ('{"key": [1]}', 'NX005 key'), ('{"ops": ["truncate"]}', 'NX005 ops'), ('{"emit": 1}', 'NX005 emit'), ('{"unchanged": null}', 'NX005 unchanged'), ('{"replica": "x"}', 'NX005 replica'), ('{"lock_timeout": 5}', 'NX005 lock_timeout'), ('{"nope": 1}', 'NX004 nope')) v(o, e);
create function app.mine() returns trigger language plpgsql as 'begin return null; end'; create trigger nexus_watch_insert after insert on app.t for each row execute function app.mine();
select is(pg_temp.said('app.t'), 'NX017 p_table table app.t cannot be watched: it has a trigger nexus_watch_... that is not of Nexus', 'no trigger of others is replaced');
drop trigger nexus_watch_insert on app.t;
select is(pg_temp.said('app.t', c), 'NX016 p_collection', coalesce(c, 'NULL') || ' is no collection') from unnest(array[null, '', 'a b']) c;
select is(pg_temp.said(null), 'NX017 p_table table NULL cannot be watched: it does not exist', 'NULL is no table');
select is(pg_temp.said('app.t', p_namespace => 'none'), 'NX101 p_namespace', 'a namespace that is there');
set session authorization t_stranger; set search_path = tap, pg_catalog;
select is(pg_temp.said('app.t', p_namespace => 'closed'), 'NX402 p_namespace', 'who may produce');
select is(pg_temp.said('app.t'), '42501 p_table', 'who owns the table');
select throws_ok($$select core.unwatch_table('app.t')$$, '42501', null, 'who owns it ends it');
reset session authorization; set search_path = tap, pg_catalog;
select is((select count(*)::int from core.watched_tables), 0, 'nothing is left of what was refused');
set session authorization t_app; set search_path = tap, pg_catalog;
select throws_ok($$select core.unwatch_table('app.t')$$, 'NX112', null, 'what is not watched');
select is(pg_temp.said('app.t', p_options => '{"key": ["id"]}', p_namespace => 'closed'), 'watched', 'a table of one''s own');
select core.unwatch_table('app.t');
select is((select count(*)::int from pg_trigger where tgrelid = 'app.t'::regclass), 0, 'its triggers go');
select is(pg_temp.said('app.t'), 'watched', 'and again');
select is((select array_agg(tgname::text order by tgname) from pg_trigger where tgrelid = 'app.t'::regclass), '{nexus_watch_delete,nexus_watch_insert,nexus_watch_truncate,nexus_watch_update}', 'by statement');
select is(pg_temp.said('app.t', 'b'), 'NX212 p_table', 'another collection is a conflict'), is(pg_temp.said('app.t', p_options => '{"emit": true}'), 'NX212 p_table', 'another option'), is(pg_temp.said('app.t', p_namespace => 'closed'), 'NX212 p_table', 'another namespace');
select is(pg_temp.said('app.t', p_options => '{"lock_timeout": "1 s", "ops": [], "replica": false}'), 'watched', 'alike');
select isnt(core.create_trigger('shop', 'rows', '{"kv": {"collection": "*"}}', 'go:mail'), null, 'a trigger');
-- somebody's own trigger with another's watch
set session authorization t_other; set search_path = tap, pg_catalog;
reset session authorization; create schema other authorization t_other; set session authorization t_other; set search_path = tap, pg_catalog;
create table other.fake (id integer primary key);
select lives_ok(format('create trigger x after insert on other.fake referencing new table as new_rows for each statement execute function core_node.note_rows(%L)', w), 'anybody can make a trigger') from (select 1) x(w);
insert into other.fake values (1);
reset session authorization; set search_path = tap, pg_catalog;
drop trigger x on other.fake;
do $$ begin execute format('create trigger x after insert on other.fake referencing new table as new_rows for each statement execute function core_node.note_rows(%L)', (select watch_id from core.watched_tables)); end $$;
insert into other.fake values (2);
select is(pg_temp.got(), '{}', 'and none makes mutations of another table');
-- partitions
set session authorization t_app; set search_path = tap, pg_catalog;
select is(pg_temp.said('app.p', 'p', '{"key": ["id"]}'), 'watched', 'a partitioned table');
insert into app.p values (1, 1, 1), (2, 2, 2); update app.p set v = v + 10; update app.p set k = 3 - k where id = 1; insert into app.p1 values (3, 1, 3);
create table app.p9 (note text, v integer, k integer, id integer); alter table app.p9 drop column note; alter table app.p attach partition app.p9 for values in (9); insert into app.p9 (id, k, v) values (9, 9, 9); update app.p9 set v = 1; delete from app.p9;
create function app.no() returns trigger language plpgsql as $$ begin if new.id = 3 then return null; end if; return new; end $$; create trigger b before insert on app.p2 for each row execute function app.no();
update app.p set k = 2 where k = 1; truncate app.p1; truncate app.p;
reset session authorization; set search_path = tap, pg_catalog;
select is(pg_temp.got(), array['insert {"k": 1, "v": 1, "id": 1}', 'insert {"k": 2, "v": 2, "id": 2}', 'update {"k": 1, "v": 1, "id": 1} {"k": 1, "v": 11, "id": 1}', 'update {"k": 2, "v": 2, "id": 2} {"k": 2, "v": 12, "id": 2}', 'delete {"k": 1, "v": 11, "id": 1}', 'insert {"k": 2, "v": 11, "id": 1}', 'insert {"k": 1, "v": 3, "id": 3}', 'insert {"k": 9, "v": 9, "id": 9}', 'update {"k": 9, "v": 9, "id": 9} {"k": 9, "v": 1, "id": 9}', 'delete {"k": 9, "v": 1, "id": 9}', 'delete {"k": 1, "v": 3, "id": 3}', 'truncate'], 'partitions, moved rows, one that is swallowed, and TRUNCATE of the root');
select is((select array_agg(collection || ' ' || by_row order by collection) from core.watch_status), '{"a false","p true"}', 'row by row');
-- replication
set session authorization t_app; set search_path = tap, pg_catalog;
create table app.r (id integer primary key); select is(pg_temp.said('app.r', 'r', '{"replica": true}'), 'watched', 'what replication applies');
reset session authorization; set search_path = tap, pg_catalog;
set session_replication_role = replica; insert into app.t values (7, 7); insert into app.r values (7); set session_replication_role = origin;
select is(pg_temp.got(), '{"insert {\"id\": 7}"}', 'only where it was asked for');
-- what was done to its triggers
set session authorization t_app; set search_path = tap, pg_catalog;
drop trigger nexus_watch_insert on app.t; alter table app.t disable trigger nexus_watch_update;
drop trigger nexus_watch_delete on app.t; create trigger nexus_watch_delete after delete on app.t referencing old table as old_rows for each statement execute function core_node.note_rows('0');
alter table app.p disable trigger nexus_watch_rows;
reset session authorization; set search_path = tap, pg_catalog;
set session authorization t_reader; set search_path = tap, pg_catalog;
select is((select (missing, switched_off, altered, principal_ok, table_name, ops, columns, key)::text from core.watch_status where collection = 'a'), '({nexus_watch_insert},{nexus_watch_update},{nexus_watch_delete},t,app.t,{},{},{})', 'is seen');
set session authorization t_app; set search_path = tap, pg_catalog;
select is(pg_temp.said('app.t'), 'watched', 'watched again'), is(pg_temp.said('app.p', 'p', '{"key": ["id"]}'), 'watched', 'both');
reset session authorization; set search_path = tap, pg_catalog;
select is((select array_agg((missing || switched_off || altered)::text) from core.watch_status), '{"{}","{}","{}"}', 'they are as they were');
-- off
set session authorization t_stranger; set search_path = tap, pg_catalog;
select throws_ok($$select core.switch_watch(1, false)$$, '42501', null, 'an operator switches');
set session authorization t_operator; set search_path = tap, pg_catalog;
select throws_ok($$select core.switch_watch(0, false)$$, 'NX112', null, 'what is there'), throws_ok($$select core.switch_watch(null, false)$$, 'NX112', null, 'NULL is none');
reset session authorization; set search_path = tap, pg_catalog;
create temporary table w as select watch_id from core.watched_tables where collection = 'a'; grant select on w to public;
set session authorization t_operator; set search_path = tap, pg_catalog;
select throws_ok('select core.switch_watch(' || watch_id || ', null)', 'NX006', null, 'on or off') from pg_temp.w;
select is(core.switch_watch(watch_id, false, 'too many'), true, 'off') from pg_temp.w; select is(core.switch_watch(watch_id, false), false, 'once') from pg_temp.w;
reset session authorization; set search_path = tap, pg_catalog;
insert into app.t values (8);
select is(pg_temp.got(), '{}', 'nothing comes');
select is((select off_reason from core.watch_status where collection = 'a'), 'too many', 'it is seen');
select is(core.switch_watch(watch_id, true), true, 'on') from w;
insert into app.t values (9);
select is(cardinality(pg_temp.got()), 1, 'it goes on');
-- handed over, and revoked
set session authorization t_app; set search_path = tap, pg_catalog;
create table app.h (id integer primary key); select is(pg_temp.said('app.h', 'h'), 'watched', 'another one');
reset session authorization; set search_path = tap, pg_catalog;
select core.hand_over_triggers('t_app', 't_next', 'shop');
select is((select array_agg(distinct registered_by_principal::text) from core.watched_tables), '{t_next}', 'watches are handed over');
revoke nexus_producer from t_next;
select is(core_private.sweep_watches(), 4, 'a sweep switches off what its role may not have');
select is((select array_agg(distinct concat_ws(' ', enabled, off_reason, principal_ok)) from core.watch_status), '{"f principal_revoked f"}', 'with the reason');
select is(core_private.sweep_watches(), 0, 'once');
drop table app.t; drop table app.r;
select is(core_private.sweep_watches(), 2, 'and forgets tables that are gone');
select is((select count(*)::int from core.watched_tables), 2, 'no others');
select lives_ok($$select core.drop_namespace('shop', 'shop', true)$$, 'the namespace goes with them');
select lives_ok($$insert into app.h values (1)$$, 'and writers do not notice');
select is((select array_agg(distinct action order by action) from core.audit_log where action ~ 'watch'), '{switch_watch,unwatch_table,watch_table}', 'all of it is recorded');
