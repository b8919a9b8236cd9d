-- K7: lists go by bytes, by prefix and by page
-- holds: K7 (lists)
select core.create_namespace('shop'), core.create_namespace('mall');
select core.kv_set('shop', 'c', k, to_jsonb(k)) from unnest(array['a', 'a/', 'a/1', 'a/10', 'a/2', 'A', 'a_1', 'a%1', 'aé', 'aêx', 'ab', 'z', 'é', 'a\1']) k;
select core.kv_set('shop', 'd', 'a/1', '1'), core.kv_set('mall', 'c', 'a/1', '1');
create function pg_temp.keys(text = '', text = null, integer = 100) returns text language sql as $$
  select coalesce(string_agg(l.key, ' ' order by l.n), '') from (select key, row_number() over () as n from core.kv_list('shop', 'c', $1, $2, $3)) l $$;
select is(pg_temp.keys(), 'A a a%1 a/ a/1 a/10 a/2 a\1 a_1 ab aé aêx z é', 'all, by their bytes');
select is(pg_temp.keys('a/'), 'a/ a/1 a/10 a/2', 'by prefix, itself among them');
select is(pg_temp.keys('a_'), 'a_1', 'what is a pattern elsewhere is none here');
select is(pg_temp.keys('a%'), 'a%1', 'neither this one');
select is(pg_temp.keys('a\'), 'a\1', 'nor an escape');
select is(pg_temp.keys('aé'), 'aé', 'whole characters');
select is(pg_temp.keys('b'), '', 'none');
select is(pg_temp.keys('zz'), '', 'none after the last');
select is(pg_temp.keys('', null, 3), 'A a a%1', 'a page');
select is(pg_temp.keys('', 'a%1', 3), 'a/ a/1 a/10', 'and the next');
select is(pg_temp.keys('a/', 'a/', 2), 'a/1 a/10', 'within a prefix');
select is(pg_temp.keys('a/', 'a/10', 2), 'a/2', 'to its end');
select is(pg_temp.keys('a/', 'a/2'), '', 'and no further');
select is(pg_temp.keys('a/', 'A'), 'a/ a/1 a/10 a/2', 'after what comes before the prefix');
select is(pg_temp.keys('a/', 'z'), '', 'after what comes behind it');
select is(pg_temp.keys(null, null), pg_temp.keys(), 'NULL is none');
select is((select (value, key)::text from core.kv_list('shop', 'c', 'a/2')), '("""a/2""",a/2)', 'with its value');
select is((select (value, version is not null)::text from core.kv_list('shop', 'c', 'a/2', p_values => false)), '(,t)', 'or without');
select is((select array_agg(l.key) from core.kv_list('shop', 'd') l), '{a/1}', 'of one collection');
select throws_ok(format('select core.kv_list(%L, %L, p_limit => %s)', 'shop', 'c', n), 'NX006', null, 'a page has no ' || n) from unnest(array['0', '1001', 'null']) n;
select is((select array_agg(key order by key) from core.kv where namespace = 'shop' and collection = 'c' and starts_with(key, 'a/')), '{a/,a/1,a/10,a/2}', 'the view by prefix');
-- a collation of the caller's own stands in no way
create collation pg_temp.nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
select is((select value from core.kv_get('shop', 'c', 'a' collate pg_temp.nocase)), '"a"', 'a key in a collation of the caller''s');
select is((select count(*)::int from core.kv_get('shop', 'c', 'AB' collate pg_temp.nocase)), 0, 'is compared by its bytes');
select is((select string_agg(l.key, ' ') from core.kv_list('shop', 'c', 'A' collate pg_temp.nocase, p_after => 'A' collate pg_temp.nocase) l), null, 'in lists');
select is((select string_agg(l.key, ' ') from core.kv_list('shop', 'c', 'a/' collate pg_temp.nocase) l), 'a/ a/1 a/10 a/2', 'too');
select ok((core.kv_set('shop', 'C', 'AB' collate pg_temp.nocase, '1', '{"if_absent": true}')).done, 'and where it is set');
select is((core.kv_delete('shop', 'c', 'AB' collate pg_temp.nocase)).done, false, 'or deleted');
