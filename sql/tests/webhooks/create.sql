-- H5: a webhook is created, altered, rotated and dropped, and its secret is shown once
-- holds: H5
select core.create_namespace('shop');
select is(core.create_webhook('shop', 'bill', 'https://bill.example/in?x=1', '{order.*}', '{"secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "timeout": "5 s", "max_in_flight": 3}'), 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'takes a secret');
select matches(core.create_webhook('shop', 'mail', 'https://mail.example', '{*}'), '^whsec_[A-Za-z0-9+/]{43}=$', 'or makes one');
select is((select count(distinct secret)::int from core_private.webhook_secrets), 2, 'each its own');
select is((select row (state, patterns, timeout, concurrency, pause_after, source)::text from core.webhook_status where name = 'bill'), '(active,{order.*},00:00:05,5,"5 days",)', 'as asked for');
select is((select retry from core.consumers where name = 'bill'), '{"base": "30s", "max": "8h", "shape": "exponential", "jitter": 0.2, "max_attempts": 15}', 'patient');
select is(core.create_webhook('shop', 'bill', 'https://bill.example/in?x=1', '{order.*}', o::jsonb), null, 'nothing happens: ' || o)
  from unnest(array['{}', '{"timeout": "5 s", "max_in_flight": 3}', '{"secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}']) o;
select throws_ok(format($$select core.create_webhook('shop', 'bill', %L, %L, %L)$$, u, p, o), 'NX212', null, 'differs: ' || u || p || o)
  from (values ('https://other.example', '{order.*}', '{}'), ('https://bill.example/in?x=1', '{user.*}', '{}'), ('https://bill.example/in?x=1', '{order.*}', '{"timeout": "6 s"}'),
               ('https://bill.example/in?x=1', '{order.*}', '{"concurrency": 6}'), ('https://bill.example/in?x=1', '{order.*}', '{"pause_after": "1 day"}'), ('https://bill.example/in?x=1', '{order.*}', '{"source": "a"}'),
               ('https://bill.example/in?x=1', '{order.*}', '{"max_in_flight": 4}'), ('https://bill.example/in?x=1', '{order.*}', '{"secret": "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}')) v (u, p, o);
select core.create_consumer('shop', 'plain', '{*}');
select throws_ok($$select core.create_webhook('shop', 'plain', 'https://a.example', '{*}')$$, 'NX212', 'consumer ''plain'' of namespace ''shop'' exists, and is no webhook', 'a consumer that is none');
select throws_ok(format($$select core.create_webhook('shop', 'x', %L, '{*}')$$, u), 'NX006', null, 'refuses ' || coalesce(u, 'NULL'))
  from unnest(array['', 'a.example', 'ftp://a.example', 'file:///etc/passwd', 'http://a.example', 'https://', 'https:///a', 'https://u:p@a.example', 'https://a@b.example/', E'https://a.example/\r\nX: 1', 'https://a b.example',
                    'https://a.example/ ', 'https://a.example/' || repeat('x', 2048), null]) u;
select throws_ok(format($$select core.create_webhook('shop', 'x', 'https://a.example', '{*}', %L)$$, o), c, null, 'refuses ' || o)
  from (values ('{"nope": 1}', 'NX004'), ('{"kind": "odd"}', 'NX005'), ('{"kind": "ordered", "rate": "1/s"}', 'NX225'), ('{"timeout": "0"}', 'NX005'), ('{"timeout": "1 h"}', 'NX005'), ('{"concurrency": 0}', 'NX005'), ('{"concurrency": "5"}', 'NX005'), ('{"pause_after": 5}', 'NX005'),
               ('{"insecure": 1}', 'NX005'), ('{"source": ""}', 'NX005'), ('{"source": "a b"}', 'NX005'), ('{"source": 1}', 'NX005'), ('{"rate": "x"}', 'NX005'), ('[]', 'NX005'), ('{"retry": {"jitter": 2}}', 'NX007')) v (o, c);
select throws_ok(format($$select core.create_webhook('shop', 'x', 'https://a.example', '{*}', jsonb_build_object('secret', %L::text))$$, s), 'NX005', 'secret is not one of Standard Webhooks', 'and does not show it')
  from unnest(array['', 'hunter2', 'whsec_', 'whsec_QUJD', 'whsec_' || repeat('QUJD', 22), 'whsec_' || repeat('QUJD', 8) || '=', 'whsec_' || repeat('QU D', 8), null]) s;
select is((select count(*)::int from core.webhooks), 2, 'nothing is left of what was refused');
select core.alter_webhook('shop', 'bill', 'https://bill.example/v2', '{"concurrency": 9, "source": "urn:x"}');
select is((select row (url, concurrency, source, timeout)::text from core.webhooks where name = 'bill'), '(https://bill.example/v2,9,urn:x,00:00:05)', 'altered');
select throws_ok($$select core.alter_webhook('shop', 'bill', 'http://bill.example')$$, 'NX006', null, 'not to http');
select lives_ok($$select core.alter_webhook('shop', 'bill', 'http://bill.example', '{"insecure": true}')$$, 'unless asked');
select throws_ok($$select core.alter_webhook('shop', 'bill', null, '{"insecure": false}')$$, 'NX006', null, 'which cannot be taken back under it');
select throws_ok(q, 'NX102', null, q) from unnest(array[$$select core.alter_webhook('shop', 'plain')$$, $$select core.rotate_webhook_secret('shop', 'none')$$, $$select core.drop_webhook('shop', 'plain')$$]) q;
select is((select secrets from core_node.webhooks('shop') where name = 'bill'), '{whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw}', 'nodes get it');
select is(core.rotate_webhook_secret('shop', 'bill', '{"secret": "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "overlap": "1 h"}'), 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'another');
select is((select secrets from core_node.webhooks('shop') where name = 'bill'), '{whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw}', 'both sign, the newest first');
update nexus_test.clock set shift = shift + interval '61 min';
select is((select secrets from core_node.webhooks('shop') where name = 'bill'), '{whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA}', 'until the time is over');
select core.rotate_webhook_secret('shop', 'bill', '{"secret": "whsec_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"}'), core.rotate_webhook_secret('shop', 'bill', '{"secret": "whsec_CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC"}');
select is((select secrets from core_node.webhooks('shop') where name = 'bill'), '{whsec_CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC,whsec_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB}', 'two at most');
select core.rotate_webhook_secret('shop', 'bill', '{"secret": "whsec_DDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDD", "overlap": "0 s"}');
select throws_ok($$select core.rotate_webhook_secret('shop', 'bill', '{"overlap": "40 days"}')$$, 'NX005', null, 'no longer than a month');
select is((select count(*)::int from core_private.webhook_secrets s join core.webhooks w using (consumer_id) where w.name = 'bill'), 1, 'without a time the one before ends at once');
select is((select count(*)::int from core.audit_log where (details || jsonb_build_object('t', target))::text ~ 'whsec_|[ABCD]{20}|MfKQ'), 0, 'and no secret is noted');
select is((select count(*)::int from core.audit_log where action ~ 'webhook'), 8, 'but what was done');
select core.drop_webhook('shop', 'bill');
select is((select string_agg(name, ',') from core.webhooks), 'mail', 'dropped');
select core.drop_consumer('shop', 'mail');
select is((select count(*)::int from core_private.webhook_secrets), 0, 'with its secrets, however it is dropped');
