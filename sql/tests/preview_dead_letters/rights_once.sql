-- What the caller may do is asked of namespaces, not of each dead letter
select core.create_namespace(n) from unnest(array['mall', 'shop', 'till']) n;
insert into core.dead_letters (namespace, source_kind, source_ref, event_type, payload, attempts, failed_at, reason)
select n, 'delivery', to_jsonb(n || g), 'a', '{}', 1, core.now(), 'x' from unnest(array['mall', 'shop', 'till']) n, generate_series(1, 50) g;
set local track_functions = 'all';
select is((select count(*)::int from core.preview_dead_letters('{"type": "none"}')), 0, 'nothing is of that type');
select is((select sum(count)::int from core.preview_dead_letters('{"type": "a"}')), 150, 'all are of this one');
select cmp_ok((select calls from pg_stat_xact_user_functions where schemaname = 'core_private' and funcname = 'has_duty'), '<=', 6::bigint, 'three namespaces, twice');
