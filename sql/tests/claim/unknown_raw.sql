-- D7 and query 7 of the psql surface: a message by hand that is no envelope is delivered as unknown.raw to whoever handles that
select core.create_namespace('shop');
select pgmq.send('core_events_shop'::text, m) from unnest(array['"text"', '{"eventType": 5}', '{"eventType": "a b"}', 'null', '{"eventType": "ok"}']::jsonb[]) m;
create temporary table c as select * from core_node.claim('core_events_shop', '{unknown.raw}', '{0}', 10, '30 s') where outcome = 'claimed';
select is((select array_agg(msg_id order by msg_id) from c), array[1, 2, 3, 4]::bigint[], 'whatever has no valid eventType is unknown.raw');
select is((select array_agg(message order by msg_id) from c), array['"text"', '{"eventType": 5}', '{"eventType": "a b"}', 'null']::jsonb[], 'and comes as it was sent');
select is((select read_ct from pgmq.q_core_events_shop where msg_id = 5), 0, 'a hand-sent envelope is of its own type');
select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed('{1}', '{1}', pg_temp.ats('{1}'), '{reject}', '{null}', '{null}', '{bad}', '{bad}'));
select is((select payload from core.dead_letters), '"text"'::jsonb, 'buried with all it held');
select is((select source_ref from core.dead_letters), '{"queue": "core_events_shop", "msgId": 1}'::jsonb, 'named by its message id');
select isnt(core.replay_dead_letter((select dead_letter_id from core.dead_letters)), null, 'it can be replayed');
select is((select message from pgmq.q_core_events_shop order by msg_id desc limit 1), '"text"'::jsonb, 'as it was');
-- pgmq.read raises read_ct, which is no attempt: nobody died of it alone
select core.emit('shop', 'b', '1', '{}');
update pgmq.q_core_events_shop set vt = core.now() + interval '1 hour' where message ->> 'eventType' is distinct from 'b';
select pgmq.read('core_events_shop', 0, 1), pgmq.read('core_events_shop', 0, 1);
select is((select array_agg(outcome || read_ct order by outcome) from core_node.claim('core_events_shop', '{b}', '{2}', 10, '30 s')), array['claimed3', 'window1'], 'two reads by hand use up none');
