-- Groups are counted by two indexes, of short reasons and of long ones
select core.create_namespace('shop'), core.create_namespace('mall');
insert into core.dead_letters (namespace, consumer, source_kind, source_ref, event_type, payload, attempts, failed_at, reason)
select d.namespace, d.consumer, 'delivery', to_jsonb(row_number() over ()), d.event_type, '{}', 1, timestamptz '2030-01-01 00:00Z' + d.h * interval '1 hour', d.reason
  from (values ('shop', 'default', 'a', 3, 'x'), ('shop', 'default', 'a', 1, 'x'), ('shop', 'mailer', 'a', 2, 'x'), ('shop', null, 'a', 5, 'x'), ('shop', null, 'a', 4, 'x'),
               ('shop', 'default', null, 1, 'x'), ('mall', 'default', 'a', 7, 'x'),
               ('shop', 'default', 'a', 1, repeat('y', 200)), ('shop', 'default', 'a', 2, repeat('y', 201)), ('shop', 'default', 'a', 1, repeat('y', 201)),
               ('shop', 'default', 'a', 1, (select string_agg(md5(g::text), '') from generate_series(1, 250) g)),
               ('shop', 'default', 'a', 9, 'resolved'), ('shop', 'default', 'a', 9, repeat('z', 300))) d (namespace, consumer, event_type, h, reason);
update core.dead_letters set status = 'resolved', resolution = 'discarded', resolved_at = core.now() where failed_at = '2030-01-01 09:00Z';
select results_eq(
  $$select namespace, consumer, event_type, left(reason, 1), length(reason), count, extract(hour from oldest)::int, extract(hour from newest)::int
      from core.dead_letter_groups where reason !~ '^[0-9a-f]' order by namespace, consumer, event_type, length(reason)$$,
  $$values ('mall', 'default', 'a', 'x', 1, 1::bigint, 7, 7), ('shop', 'default', 'a', 'x', 1, 2, 1, 3), ('shop', 'default', 'a', 'y', 200, 1, 1, 1), ('shop', 'default', 'a', 'y', 201, 2, 1, 2),
           ('shop', 'default', null, 'x', 1, 1, 1, 1), ('shop', 'mailer', 'a', 'x', 1, 1, 2, 2), ('shop', null, 'a', 'x', 1, 2, 4, 5)$$, 'one row a group, whatever is NULL or long');
select is((select sum(count)::int from core.dead_letter_groups), 11, 'none twice, and none that is resolved');
select is((select length(reason) from core.dead_letter_groups where reason ~ '^[0-9a-f]{8}'), 8000, 'a reason that no index takes');
