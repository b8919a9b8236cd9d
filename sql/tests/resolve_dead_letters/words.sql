-- holds: L5-who
select core.create_namespace('shop');
select core.emit_batch('shop', '{a,a,a}', '{1,2,3}');
select core_node.claim('core_events_shop', '{*}', '{0}', 10, '30 s');
select core_private.bury('core_events_shop', 'n', '{1,2,3}', '{1,1,1}', '{r,r,r}', '{e,e,e}');
select is((select r::text from core.resolve_dead_letters('{"ids": [1]}', 'handled_by_script', 'ran the import by hand') r), '(1,1,0)', 'the alias');
select lives_ok($$select core.resolve_dead_letter(2, 'ignored', 'test order')$$, 'one');
select throws_ok($$select core.resolve_dead_letter(2, 'ignored', 'test order')$$, 'NX205', null, 'once');
select is((select string_agg(concat_ws(' ', dead_letter_id, resolution, resolved_reason), '; ' order by dead_letter_id) from core.dead_letters where status = 'resolved'),
          '1 handled_by_handler ran the import by hand; 2 ignored test order', 'how and why');
select is((select count(*)::int from pgmq.q_core_events_shop_dlq), 1, 'their copies are gone');
select throws_ok(format('select core.resolve_dead_letters(''{"type": "*"}'', %L, %L)', w, r), 'NX006', null, coalesce(w, 'NULL') || ' for ' || coalesce(r, 'NULL'))
  from (values ('replayed', 'x'), ('discarded', 'x'), (null, 'x'), ('ignored', ' '), ('ignored', null)) v(w, r);
select is((select string_agg(details ->> 'resolution', ' ' order by audit_id) from core.audit_log), 'handled_by_handler ignored', 'who did it is kept');
-- a dead-letter queue that somebody dropped is no hindrance
select pgmq.drop_queue('core_events_shop_dlq');
select lives_ok($$select core.discard_dead_letter(3, 'no use')$$, 'without the queue of copies');
select is((select string_agg(concat_ws(' ', action, target), '; ' order by audit_id) from core.audit_log where action <> 'by hand'),
          'resolve_dead_letters 1; resolve_dead_letters 2; discard_dead_letters 3', 'what was done, to which one');
