-- D1: a claim takes no more than about 32 MB, and always one
-- holds: D1-types, others-large
select core.create_namespace('shop');
insert into pgmq.q_core_events_shop (vt, message)
select core.now(), jsonb_build_object('eventType', 'a', 'pad', p.pad) from (select string_agg(md5(g::text), '') as pad from generate_series(1, 375000) g) p, generate_series(1, 4);
select pgmq.send('core_events_shop'::text, '{"eventType": "a"}'::jsonb);
alter table pgmq.q_core_events_shop alter column message set storage external;
update pgmq.q_core_events_shop set message = message || '{"n": 1}';
create function pg_temp.claim() returns text language sql as $$
  select coalesce(string_agg(c.msg_id::text, ',' order by c.msg_id) filter (where c.outcome = 'claimed'), '-') || ' ' || max(c.scanned_to)
    from core_node.claim('core_events_shop', '{a}', '{0}', 10, '1 h', 0) c $$;
select is(pg_temp.claim(), '1,2,3 3', 'it stops after what passed the bound, and says so');
select is(pg_temp.claim(), '4,5 5', 'the next one goes on');
