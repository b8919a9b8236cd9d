-- N1, I3: ids are those of the whole database; a namespace that is closed to the caller keeps its nodes and its name
-- holds: I3, I3-everything
select core.create_namespace('open'), core.create_namespace('other'), core.create_namespace('hush', '{"restricted": true}');
select core_node.register_node('hush', 'n', true, '{a}'), core_node.register_node('other', 'm', true, '{a}');
select core.emit('hush', 'a'), core_node.claim('core_events_hush', '{a}', '{0}', 1, '30 s');
select core_private.bury('core_events_hush', 'n', '{1}', '{1}', '{r}', '{e}');
create role t_out in role nexus_consumer, nexus_operator;
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create function pg_temp.refusal(p_sql text) returns text language plpgsql as $$
declare v_code text; v_message text; v_detail text; v_hint text;
begin
  set local role t_out;
  execute p_sql;
  reset role;
  return 'done';
exception when others then
  get stacked diagnostics v_code = returned_sqlstate, v_message = message_text, v_detail = pg_exception_detail, v_hint = pg_exception_hint;
  return concat_ws('|', v_code, v_message, v_detail, v_hint);
end $$;
create temporary table said as
select n, pg_temp.refusal(s) as what from (values
  ('alive',  $$select core_node.register_node('open', 'n', true, '{b}')$$),
  ('forget', $$select core.forget_node('n')$$),
  ('drain',  $$select core.drain_node('n')$$),
  ('replay', format('select core.replay_dead_letter(%s)', (select max(dead_letter_id) from core.dead_letters))),
  ('discard', format('select core.discard_dead_letter(%s, %L)', (select max(dead_letter_id) from core.dead_letters), 'x'))) s(n, s);
select is(pg_temp.refusal($$do $do$ begin assert not core.touch_node_heartbeat('n'); end $do$ $$), 'done', 'nor is it touched');
select is(pg_temp.refusal(format('do $do$ begin assert not core_node.replace_capabilities(''n'', %L, ''{b}''); end $do$', incarnation)), 'done', 'nor does it handle anything else') from core.nodes where node_id = 'n';
create temporary table life as select incarnation from core.nodes where node_id = 'n';
update core.nodes set state = 'lost';
insert into said select 'lost', pg_temp.refusal($$select core_node.register_node('open', 'n', true, '{b}')$$);
select alike(what, 'NX204|node id ''n'' is taken in another namespace|%', 'a given id is refused: ' || n) from said where n in ('alive', 'lost');
select is(what, 'NX104|there is no node ''n''||Nodes are listed in core.node_status.', 'as one that is not there: ' || n) from said where n in ('forget', 'drain');
select alike(what, 'NX105|there is no dead letter %', 'as one that is not there: ' || n) from said where n in ('replay', 'discard');
select unalike(what, '%hush%', 'without a name: ' || n) from said;
select is((select namespace from core.nodes where node_id = 'n'), 'hush', 'the node stays whose it was');
create temporary table numbered (node_id text);
grant all on all tables in schema pg_temp to public; grant all on all sequences in schema pg_temp to public;
set local role t_out;
insert into numbered select node_id from core_node.register_node('open', 'n', false, '{b}');
select is((select node_id from numbered), 'n-2', 'an id that was not given is numbered');
select lives_ok($$select core_node.register_node('open', 'm', true, '{b}')$$, 'a node that is gone from a namespace open to the caller makes way');
reset role;
select core.grant_namespace('hush', 't_out', 'operate');
set local role t_out;
select throws_like($$select core.touch_node_heartbeat('n')$$, '%hush%', 'who may read there is told the name');
select throws_ok($$select core_node.register_node('open', 'n', true, '{b}')$$, 'NX204', null, 'reading is not consuming');
select throws_ok($$select core_node.replace_capabilities('n', incarnation, '{b}') from life$$, 'NX402', null, 'what a node there handles is said by who consumes');
reset role;
select core.grant_namespace('hush', 't_out', 'consume');
set local role t_out;
select lives_ok($$select core_node.register_node('open', 'n', true, '{b}')$$, 'who may consume there may move a node that is gone');
