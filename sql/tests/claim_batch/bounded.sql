-- D1: a batch looks at a bounded part of the queue, too
-- holds: D1
select core.create_namespace('shop');
create function pg_temp.claim(p_floor bigint, p_leased boolean) returns text language sql as $$
  select coalesce(string_agg(c.msg_id::text, ',' order by c.msg_id) filter (where c.outcome = 'claimed'), '-') || ' '
      || max(c.read_ct) filter (where c.outcome = 'window') || ' ' || coalesce(max(c.scanned_to)::text, '-')
    from core_node.claim_batch('core_events_shop', '{a}', '{0}', 5, 1, p_floor, p_key => case when not p_leased then 0 end,
                          p_within => case when not p_leased then interval '5 s' end, p_lease => case when p_leased then interval '1 h' end) c $$;
insert into pgmq.q_core_events_shop (msg_id, vt, message) overriding system value
select g, core.now() + interval '1 day', '{"eventType": "a"}' from generate_series(1, 45000) g;
insert into pgmq.q_core_events_shop (msg_id, vt, message) overriding system value select 45000 + g, core.now(), '{"eventType": "a"}' from generate_series(1, 4) g;
create function pg_temp.pages(p_sql text) returns bigint language plpgsql as $$
declare v_plan jsonb;
begin
  execute 'explain (analyze, buffers, timing off, format json) ' || p_sql into v_plan;
  execute 'explain (analyze, buffers, timing off, format json) ' || p_sql into v_plan;
  return (v_plan #>> '{0,Plan,Shared Hit Blocks}')::bigint + (v_plan #>> '{0,Plan,Shared Read Blocks}')::bigint;
end $$;
select cmp_ok(pg_temp.pages($$select pg_temp.claim(0, false)$$)::numeric, '<=',
  1.2 * pg_temp.pages($$select core_node.claim('core_events_shop', '{a}', '{0}', 5, '1 h', 0)$$) + 50, 'a batch reads no more of it than a claim');
select cmp_ok(pg_temp.pages($$select pg_temp.claim(0, true)$$)::numeric, '<=',
  1.2 * pg_temp.pages($$select core_node.claim('core_events_shop', '{a}', '{0}', 5, '1 h', 0)$$) + 50, 'under a lease, too');
select is(pg_temp.claim(0, false), '- 5 20000', 'where hidden rows lie it says how far it has looked, and that there is more');
select is(pg_temp.claim(0, true), '- 5 20000', 'under a lease too');
select is(pg_temp.claim(40001, false), '45001,45002,45003,45004 4 45004', 'and from there it finds what is due');
select is(pg_temp.claim(40001, true), '45001,45002,45003,45004 4 45004', 'as under a lease');
delete from pgmq.q_core_events_shop where msg_id between 1 and 30000;
update pgmq.q_core_events_shop set vt = core.now() where msg_id = 45002;
select is(pg_temp.claim(0, true), '45002 1 45002', 'what lies within the head is taken, and that is all');
