-- K7: keys are set, compared and set, read and deleted; a version never comes back
-- holds: K7
update nexus_test.clock set frozen = '2030-01-01 00:00Z';
select core.create_namespace('shop'), core.create_namespace('mall');
create temp table v (n text, done boolean, version bigint);
create function pg_temp.said(p_done boolean, p_version bigint) returns text language sql as $$
  select p_done || ' ' || coalesce((select v.n from v where v.version = p_version order by v.n limit 1), case when p_version is null then '-' else 'new' end) $$;
create function pg_temp.has(p_key text, p_namespace text = 'shop') returns text language sql as $$
  select g.value::text || ' ' || pg_temp.said(true, g.version) || ' ' || to_char(g.created_at, 'MI') || ' ' || to_char(g.updated_at, 'MI') || coalesce(' ' || to_char(g.expires_at, 'MI'), '')
    from core.kv_get(p_namespace, 'c', p_key) g $$;

select is(pg_temp.has('k'), null, 'nothing there');
insert into v select 'v1', s.* from core.kv_set('shop', 'c', 'k', '{"a": 1}') s;
select is((select done from v), true, 'set');
select is(pg_temp.has('k'), '{"a": 1} true v1 00 00', 'read');
select is(pg_temp.has('k', 'mall'), null, 'not in another namespace');
select is((select count(*)::int from core.kv_get('shop', 'c2', 'k')), 0, 'nor in another collection');
update nexus_test.clock set shift = '1 min';
insert into v select 'v2', s.* from core.kv_set('shop', 'c', 'k', '2') s;
select cmp_ok((select version from v where n = 'v2'), '>', (select version from v where n = 'v1'), 'another version, greater');
select is(pg_temp.has('k'), '2 true v2 00 01', 'the times say when');
select is((select updated_by from core.kv_get('shop', 'c', 'k')), core_private.principal(), 'and who');
update nexus_test.clock set shift = '2 min';
select is((select pg_temp.said(s.done, s.version) from core.kv_set('shop', 'c', 'k', '2') s), 'true v2', 'the same value changes nothing');
select is(pg_temp.has('k'), '2 true v2 00 01', 'not even the time');
insert into v select 'v3', s.* from core.kv_set('shop', 'c', 'k', '2.0') s;
select is(pg_temp.has('k'), '2.0 true v3 00 02', 'what is equal and written otherwise is another value');
insert into v select 'null', s.* from core.kv_set('shop', 'c', 'null', 'null') s;
select is(pg_temp.has('null'), 'null true null 02 02', 'null is a value');

-- if it is there, if it is not
select is((select pg_temp.said(s.done, s.version) from core.kv_set('shop', 'c', 'k', '3', '{"if_absent": true}') s), 'false v3', 'if_absent, and it is there');
select is((select pg_temp.said(s.done, s.version) from core.kv_set('shop', 'c', 'x', '3', '{"if_present": true}') s), 'false -', 'if_present, and it is not');
select is(pg_temp.has('k') || coalesce(pg_temp.has('x'), ''), '2.0 true v3 00 02', 'neither is done');
insert into v select 'x1', s.* from core.kv_set('shop', 'c', 'x', '3', '{"if_absent": true, "if_present": false}') s;
insert into v select 'x2', s.* from core.kv_set('shop', 'c', 'x', '4', '{"if_present": true, "if_absent": false}') s;
select is(pg_temp.has('x'), '4 true x2 02 02', 'each the other way');

-- compare and set
select is((select pg_temp.said(s.done, s.version) from core.kv_cas('shop', 'c', 'k', '5', (select version from v where n = 'v2')) s), 'false v3', 'an old version');
select is((select pg_temp.said(s.done, s.version) from core.kv_cas('shop', 'c', 'k', '5', 0) s), 'false v3', 'it is there');
select is((select pg_temp.said(s.done, s.version) from core.kv_cas('shop', 'c', 'y', '5', 1) s), 'false -', 'it is not there');
select is(pg_temp.has('k') || coalesce(pg_temp.has('y'), ''), '2.0 true v3 00 02', 'nothing is done');
insert into v select 'v4', s.* from core.kv_cas('shop', 'c', 'k', '5', (select version from v where n = 'v3')) s;
select is(pg_temp.has('k'), '5 true v4 00 02', 'the version that it has');
insert into v select 'v5', s.* from core.kv_cas('shop', 'c', 'k', '5', (select version from v where n = 'v4')) s;
select is(pg_temp.has('k'), '5 true v5 00 02', 'which is used up by the same value, too');
select is((select pg_temp.said(s.done, s.version) from core.kv_cas('shop', 'c', 'k', '6', (select version from v where n = 'v4')) s), 'false v5', 'once');
insert into v select 'y1', s.* from core.kv_cas('shop', 'c', 'y', '5', 0) s;
select is(pg_temp.has('y'), '5 true y1 02 02', '0 is the version of what is not there');

-- delete
select is((select pg_temp.said(s.done, s.version) from core.kv_delete('shop', 'c', 'k', (select version from v where n = 'v3')) s), 'false v5', 'an old version deletes nothing');
select is((select pg_temp.said(s.done, s.version) from core.kv_delete('shop', 'c', 'k', 0) s), 'false v5', 'nor does that of what is not there');
select is(pg_temp.has('k'), '5 true v5 00 02', 'it is there');
select is((select pg_temp.said(s.done, s.version) from core.kv_delete('shop', 'c', 'k', (select version from v where n = 'v5')) s), 'true v5', 'deleted');
select is((select pg_temp.said(s.done, s.version) from core.kv_delete('shop', 'c', 'k') s), 'false -', 'once');
select is((select pg_temp.said(s.done, s.version) from core.kv_delete('shop', 'c', 'k', 0) s), 'false -', 'what is not there is not deleted');
select is((select pg_temp.said(s.done, s.version) from core.kv_delete('shop', 'c', 'x') s), 'true x2', 'whatever version it has');
update nexus_test.clock set shift = '3 min';
insert into v select 'again', s.* from core.kv_set('shop', 'c', 'k', '5') s;
select is(pg_temp.has('k'), '5 true again 03 03', 'made anew with the same value');
select ok(not (select s.done from core.kv_cas('shop', 'c', 'k', '6', v.version) s), 'and none of the versions that it had: ' || v.n) from v where v.n ~ '^v';
select is((select count(*) from v), (select count(distinct version) from v), 'no two are equal');

-- what a failover loses the sequence gives again, and the version is another all the same
create temp table lost as select setval('core_private.kv_version_seq', 1000) is not null, core_private.next_kv_version() as version from generate_series(1, 30);
select ok((select count(distinct version) > 20 and max(version) - min(version) < 4096 from lost), 'versions of writes that were lost are not met again');

-- it goes with its namespace, and is left out of nothing that Nexus counts as undelivered
select lives_ok($$select core.drop_namespace('shop', 'shop')$$, 'a namespace with keys is dropped');
select is((select count(*)::int from core.kv_entries), 0, 'with them');
