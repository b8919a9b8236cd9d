-- I3: grants per namespace, row-level security
-- holds: I3
select core.create_namespace('open'), core.create_namespace('closed', '{"restricted": true}');
create role t_reader in role nexus_reader; create role t_app in role nexus_producer, nexus_consumer; create role t_none;
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
grant all on all tables in schema pg_temp to public; grant all on all sequences in schema pg_temp to public;
set local role t_reader;
select is((select array_agg(namespace) from core.namespaces)::text[], array['open'], 'a restricted namespace is not seen');
select throws_ok($$select core.peek('core_events_closed')$$, 'NX402', null, 'nor looked into');
set local role t_app;
select throws_ok($$select core.emit('closed', 'a')$$, 'NX402', null, 'nor emitted into');
select throws_ok($$select core_node.claim('core_events_closed', '{a}', '{0}', 1, '1 s')$$, 'NX402', null, 'nor consumed');
select lives_ok($$select core.emit('open', 'a')$$, 'an open one is');
select throws_ok($$select core.create_namespace('x')$$, 'NX401', null, 'an application makes none');
select throws_ok($$select core.register_namespace('x')$$, '42501', null, 'nor by the other name');
select throws_ok(q, '42501', null, 'nor ' || q) from unnest(array['select core.alter_namespace(''shop'', ''{}'')', 'select core.drop_namespace(''shop'', ''shop'')',
  'select core.grant_namespace(''shop'', ''t_app'', ''read'')', 'select core.revoke_namespace(''shop'', ''t_app'', ''read'')']) q;
set local role t_none;
select throws_ok($$select core.emit('open', 'a')$$, '42501', null, 'a role without duties may do nothing');
reset role;
select core.grant_namespace('closed', 't_app', 'produce');
set local role t_app;
select lives_ok($$select core.emit('closed', 'a')$$, 'with a grant it is emitted into');
select throws_ok($$select core_node.claim('core_events_closed', '{a}', '{0}', 1, '1 s')$$, 'NX402', null, 'one duty is not the other');
reset role;
create function public.t_definer() returns void language sql security definer as $$ select core.emit('open', 'a') $$;
alter function public.t_definer() owner to t_app;
set local role t_none;
select throws_ok('select public.t_definer()', 'NX401', null, 'a definer function of one''s own lends no rights');
