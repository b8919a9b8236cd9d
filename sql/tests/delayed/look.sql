-- What an idle node asks: is anything due, and if not, when; and who is called before that
-- holds: E5-idle
select core.create_namespace('shop');
select is(core_node.look('core_events_shop', '10 s'), null, 'nothing waits');
select ok((select waiting_until > core.now() from core_private.wake_flags where key = 'core_events_shop'), 'emitters are asked to call');
select core.emit('shop', 'a');
select is(core_node.look('core_events_shop', '10 s'), interval '0', 'an event is due');
update pgmq.q_core_events_shop set vt = core.now() + interval '1 hour';
select ok(core_node.look('core_events_shop', '10 s') between interval '59 minutes' and interval '1 hour', 'one is due in an hour');
update pgmq.q_core_events_shop set vt = 'infinity';
select is(core_node.look('core_events_shop', '10 s'), null, 'never is not within a day');
select throws_ok($$ select core_node.look('core_events_nowhere', '10 s') $$, 'NX103', null, 'an unknown queue');
select throws_ok($$ select core_node.look('core_events_shop', '2 minutes') $$, 'NX006', null, 'too long a wait');

select is(core_node.next_delayed_due(), null, 'nothing is delayed');
select core.emit('shop', 'a', '{}', '{"delay": "1 hour"}');
select ok(core_node.next_delayed_due() between core.now() + interval '59 minutes' and core.now() + interval '1 hour', 'the next one of the delayed');

create function pg_temp.calls(p_sql text) returns boolean language plpgsql as $$
begin
    delete from core_private.wake_flags;
    perform core_node.wait_for_wake('{timers}', '10 s');
    create or replace function core_private.wake(p_key text, p_now timestamptz) returns void language plpgsql
    as 'begin if p_key = ''timers'' then perform set_config(''nexus.called'', ''yes'', true); end if; end';
    perform set_config('nexus.called', 'no', true);
    execute p_sql;
    return current_setting('nexus.called') = 'yes';
end $$;
select ok(pg_temp.calls($$ select core.emit('shop', 'a', '{}', '{"delay": "2 s"}') $$), 'what is due soon calls those that sleep');
select ok(pg_temp.calls($$ select core.emit_batch('shop', '{a}', array['{}'::jsonb], array['{"delay": "2 s"}'::jsonb]) $$), 'in a batch as well');
select ok(not pg_temp.calls($$ select core.emit('shop', 'a', '{}', '{"delay": "1 minute"}') $$), 'what is due later is found in time without');
