-- L3: a kind of dead letter is one row, and everything that goes by the kind reads it
select core.create_namespace('shop');
select is(
    (select string_agg(k.kind, ' ' order by k.kind) from core_private.source_kinds() k),
    (select string_agg(m[1], ' ' order by m[1])
       from pg_constraint c, regexp_matches(pg_get_constraintdef(c.oid), '''([a-z_]+)''', 'g') m
      where c.conname = 'dead_letters_source_kind_check'),
    'the ledger keeps these kinds');
select is(
    (select string_agg(format('core_private.%I(bigint[],jsonb,timestamptz,interval)', k.replay), ' ')
       from core_private.source_kinds() k
      where k.replay is not null
        and to_regprocedure(format('core_private.%I(bigint[],jsonb,timestamptz,interval)', k.replay)) is null),
    null, 'what replays a kind is there');
select is(
    (select string_agg(format('core_private.%I(text,text,bigint[])', k.why), ' ')
       from core_private.source_kinds() k
      where k.why is not null
        and to_regprocedure(format('core_private.%I(text,text,bigint[])', k.why)) is null),
    null, 'and what says why not');

-- one dead letter of each kind, the same but for that
insert into core.dead_letters (
    namespace, consumer, source_kind, source_ref, event_type, payload, attempts, failed_at, reason)
select 'shop', 'default', k.kind, '{"queue": "core_events_shop", "msgId": 1}', 'a', '1', 1, core.now(), 'r'
  from core_private.source_kinds() k;
select is(
    (select string_agg(concat_ws(' ', p.source_kind, coalesce(p.not_replayable, 'yes')), ', ' order by p.source_kind)
       from core.preview_dead_letters('{"namespace": "shop"}') p),
    'broadcast its source is gone, delivery yes, lane outbox queue ''default'' is gone, task its source is gone, trigger its trigger is gone, or makes no deliveries any more, '
        || 'workflow_compensation its source is gone, workflow_step its source is gone',
    'a preview says which can be replayed');
select is(
    (select (r.matched, r.done, r.skips)::text
       from core.replay_dead_letters('{"namespace": "shop"}', '{"dry_run": true}') r),
    (select (7, 1, jsonb_build_array(
                 jsonb_build_object('why', 'its source is gone', 'count', 4,
                     'ids', jsonb_agg(l.dead_letter_id order by l.dead_letter_id)
                         filter (where l.source_kind not in ('lane', 'trigger'))),
                 jsonb_build_object('why', 'its trigger is gone, or makes no deliveries any more', 'count', 1,
                     'ids', jsonb_agg(l.dead_letter_id) filter (where l.source_kind = 'trigger')),
                 jsonb_build_object('why', 'outbox queue ''default'' is gone', 'count', 1,
                     'ids', jsonb_agg(l.dead_letter_id) filter (where l.source_kind = 'lane'))))::text
       from core.dead_letters l
      where l.source_kind <> 'delivery'),
    'and a replay does just these');
select is(
    (select string_agg(k.kind, ' ' order by k.kind)
       from core_private.source_kinds() k
      where (select p.count from core.preview_dead_letters(jsonb_build_object('source', k.kind)) p) = 1),
    'broadcast delivery lane task trigger workflow_compensation workflow_step', 'a filter picks one kind');
select throws_ok($$select core.preview_dead_letters('{"source": "letter"}')$$, 'NX009', 'source cannot be "letter"',
    'and no other');

-- rounds are counted within a kind
create temporary table sent as select pgmq.send('core_events_shop'::text, '"no envelope"'::jsonb) as id;
update core.dead_letters l
   set source_ref = jsonb_build_object('queue', 'core_events_shop', 'msgId', s.id)
  from sent s
 where l.source_kind = 'lane';
select core_private.bury('core_events_shop', 'n', array[s.id], '{0}', '{r}', '{e}') from sent s;
select is((select l.round from core.dead_letters l, sent s where l.msg_id = s.id), 0,
    'a source of another kind is another source');
