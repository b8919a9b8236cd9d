-- Emit looks for named consumers only where a trigger has noted some.
select core.create_namespace('shop');
select core.create_namespace('other');
create function pg_temp.noted() returns text language sql as $$ select string_agg(namespace, ',' order by namespace) from core.namespaces where named_consumers $$;

select is(pg_temp.noted(), null, 'default alone is not noted');
select core_private.create_queue('core_events_shop__mailer');
insert into core.queues (queue_name, namespace) values ('core_events_shop__mailer', 'shop');
insert into core.consumers (namespace, name, patterns, queue_name) values ('shop', 'mailer', '{*}', 'core_events_shop__mailer');
select is(pg_temp.noted(), 'shop', 'a named consumer is');
update core.consumers set namespace = 'other' where name = 'mailer';
select is(pg_temp.noted(), 'other', 'one that moves is noted where it goes, and no more where it was');
update core.consumers set namespace = 'shop', name = 'letters' where name = 'mailer';
select is(pg_temp.noted(), 'shop', 'whatever it is called');
delete from core.consumers where name = 'letters';
select is(pg_temp.noted(), null, 'the last one that goes takes the note along');
