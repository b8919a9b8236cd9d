-- ingress: tokens are made, found by their first part and taken back, and only their sum is kept
-- holds: ingress
select core.create_namespace('shop'), core.create_namespace('other');
create temp table made as select core.create_ingress_token('shop', 'web') as token;
select matches(token, '^nxi_[0-9a-f]{32}_[0-9a-f]{64}$', 'a token') from made;
select is((select row (n.namespace, n.sum)::text from made, core_node.ingress_token(split_part(token, '_', 2)::uuid) n),
          (select row ('shop', encode(sha256(token::bytea), 'hex'))::text from made), 'is found');
select is((select namespace from core_node.ingress_token(gen_random_uuid())), null, 'another one is not');
select is((select count(*)::int from made, core.audit_log a where to_jsonb(a)::text like '%' || split_part(token, '_', 3) || '%'), 0, 'it is not noted');
select is((select count(*)::int from made, core.ingress_tokens a where to_jsonb(a)::text like '%' || split_part(token, '_', 3) || '%'), 0, 'nor kept');
select throws_ok($$select core.create_ingress_token('shop', 'web')$$, 'NX006', 'namespace ''shop'' has a token ''web''', 'one of each name');
select lives_ok($$select core.create_ingress_token('other', 'web')$$, 'in a namespace');
select throws_ok(format($$select core.create_ingress_token('shop', %L)$$, n), 'NX006', null, 'refuses ' || coalesce(n, 'NULL')) from unnest(array['', '-a', 'a b', E'a\nb', repeat('a', 101), null]) n;
select throws_ok($$select core.create_ingress_token('nowhere', 'web')$$, 'NX101', null, 'no such namespace');
select ok(core.revoke_ingress_token('shop', 'web'), 'taken back');
select ok(not core.revoke_ingress_token('shop', 'web'), 'once');
select is((select n.namespace from made, core_node.ingress_token(split_part(token, '_', 2)::uuid) n), null, 'it is found no more');
select is((select array_agg(action || ' ' || target order by audit_id) from core.audit_log where action ~ 'ingress'), '{create_ingress_token web,create_ingress_token web,revoke_ingress_token web}', 'noted');
