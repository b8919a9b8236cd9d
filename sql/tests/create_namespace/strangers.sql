-- Existence comes before rights: whoever has a duty hears that a namespace is there, with its options, and may ask for it again and again.
-- A restricted one is, to who has no duty in it, like one that is not there; who may not create is told who may, and what to have run.
-- holds: NS1
select core.create_namespace('shop', '{"retry": {"base": "2 s"}, "metadata": {"key": "of the owners"}}');
select core.create_namespace('vault', '{"restricted": true, "metadata": {"key": "of the owners"}}');
create role t_producer; grant nexus_producer to t_producer;
create role t_reader; grant nexus_reader to t_reader;
create role t_admin login; grant nexus_admin to t_admin;
create role t_none;
grant usage on schema tap to nexus_producer, nexus_reader; grant execute on all functions in schema tap to nexus_producer, nexus_reader;
create function pg_temp.asked(p_role text, p_namespace text, p_options jsonb = '{}', out answer text, out said text, out detail text, out hint text) language plpgsql as $$
begin
  execute format('set local role %I', p_role);
  begin
    answer := core.create_namespace(p_namespace, p_options);
  exception when others then
    get stacked diagnostics answer = returned_sqlstate, said = message_text, detail = pg_exception_detail, hint = pg_exception_hint;
  end;
  reset role;
end $$;
select is((pg_temp.asked(r, 'shop')).answer, 'false', r || ' is told that it is there') from unnest('{nexus_producer,nexus_consumer,nexus_reader,nexus_operator,nexus_admin}'::text[]) r;
select is((pg_temp.asked('t_producer', 'shop', '{"retry": {"base": "2 s"}}')).answer, 'false', 'with the options it has');
select is((pg_temp.asked('t_none', 'shop')).answer, '42501', 'who has no duty is told nothing');
select is((pg_temp.asked('t_producer', 'Shop')).answer, 'NX001', 'names are checked first');
select is((pg_temp.asked('t_producer', 'shop', '{"nope": 1}')).answer, 'NX004', 'so are options');
-- other options
create temporary table p as select * from pg_temp.asked('t_producer', 'shop', '{"retry": {"base": "3 s"}, "metadata": {}}');
select is((select answer || ' ' || said from p), $$NX201 namespace 'shop' exists with other options: metadata, retry.base$$, 'who may not read learns which differ');
select matches((select hint from p), 'have it changed by members of nexus_admin [(].*t_admin.*select core[.]alter_namespace[(]''shop'', ''[{]"retry": [{]"base": "3 s"[}], "metadata": [{][}][}]''[)];', 'and what to ask for');
select is((pg_temp.asked('t_reader', 'shop', '{"retry": {"base": "3 s"}}')).said, $$namespace 'shop' exists with other options: retry.base is 2 s, given 3 s$$, 'who may read learns the values');
-- one that is not there, and one that is hidden
create temporary table a as select * from pg_temp.asked('t_producer', 'mall', '{"dedupe_for": "1 h"}');
select is((select answer || ' ' || said from a), $$NX401 role t_producer may not create namespaces, and has none named 'mall'$$, 'one that is not there');
select matches((select detail from a), '^Namespaces are created by members of nexus_admin [(].*t_admin.*[)][.]$', 'who may');
select matches((select hint from a), '^Ask an administrator for: select core[.]create_namespace[(]''mall'', ''[{]"dedupe_for": "1 h"[}]''[)]; or, if it is restricted: select core[.]grant_namespace[(]''mall'', ''t_producer'', ''produce''[)];$', 'and what');
select is((select replace(v::text, 'vault', 'mall') from pg_temp.asked('t_producer', 'vault', o::jsonb) v), (select m::text from pg_temp.asked('t_producer', 'mall', o::jsonb) m), 'a restricted one is like that, with ' || o)
  from unnest('{"{}","{\"restricted\": true}","{\"restricted\": false}"}'::text[]) o;
select core.grant_namespace('vault', 't_producer', 'produce');
select is((pg_temp.asked('t_producer', 'vault')).answer, 'false', 'who was let in is told');
select is((pg_temp.asked('t_producer', 'vault', '{"metadata": {}}')).said, $$namespace 'vault' exists with other options: metadata$$, 'but no values');
select ok(not exists (select from core.namespaces where namespace = 'mall'), 'nothing was made');
-- a queue that lost its table
drop table pgmq.q_core_events_shop;
select is((select answer || ' ' || said from pg_temp.asked('t_producer', 'shop')), $$NX401 queue tables of namespace 'shop' are missing, and role t_producer may not make them again$$, 'a lost queue is an administrator''s to make again');
select is((pg_temp.asked('t_admin', 'shop')).answer, 'true', 'who does');
select is((pg_temp.asked('t_producer', 'shop')).answer, 'false', 'and then it is there');
-- by name, and by a definer function of an administrator's
select throws_ok($$select core.require_namespace('mall')$$, 'NX101', null, 'require_namespace, for programs that are to find it');
select lives_ok($$select core.require_namespace('shop')$$, 'and do');
create function public.t_make(p_namespace text) returns boolean language sql security definer as $$ select core.create_namespace(p_namespace) $$;
alter function public.t_make(text) owner to t_admin;
set local role t_producer;
select is(public.t_make('shop'), false, 'a definer function of an administrator''s finds it');
select throws_ok($$select public.t_make('mall')$$, 'NX401', null, 'and lends no rights');
