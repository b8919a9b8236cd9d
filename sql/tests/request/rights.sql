-- R1: who produces asks, waits and cancels; who consumes answers; what is restricted is not there for the others
-- holds: R1 (rights)
select core.create_namespace('open'), core.create_namespace('closed', '{"restricted": true}');
select core_node.require_routed(n, 'requests'), core_node.register_node(n, n || '1', true, '{go:price}', '{}', '{requests}') from unnest('{open,closed}'::text[]) n;
create role t_producer in role nexus_producer; create role t_consumer in role nexus_consumer; create role t_reader in role nexus_reader; create role t_operator in role nexus_operator;
create role t_nobody; grant usage on schema core, core_node to t_nobody;
create temp table asked as select n as namespace, core.request(n, 'price') as id from unnest('{open,closed}'::text[]) n;
update core.inbox set xact_id = '3';
create temp table held as select namespace, c.msg_id, c.read_ct, c.last_read_at from asked, core_node.claim('core_events_' || namespace || '__requests', '{*}', '{-1}', 10, '30 s') c where c.outcome = 'claimed';
grant select on asked, held to public;
create function pg_temp.said(p_role text, p_call text) returns text language plpgsql as $$
declare v_said text;
begin
  begin
    execute format('set local role %I', p_role);
    execute 'select ' || p_call into v_said;
    raise exception 'undo' using errcode = 'UN001', detail = coalesce(v_said, 'NULL');
  exception when sqlstate 'UN001' then get stacked diagnostics v_said = pg_exception_detail; reset role; return v_said;
    when others then v_said := sqlstate; reset role; return v_said;
  end;
end $$;
create function pg_temp.may(p_role text, p_namespace text) returns text language sql as $$
  select string_agg(c.name || ' ' || pg_temp.said(p_role, format(c.call, p_namespace, a.id, 'core_events_' || p_namespace || '__requests', h.msg_id, h.read_ct, h.last_read_at)), ', ' order by c.n)
    from asked a join held h using (namespace), (values (1, 'ask', 'core.request(%1$L, ''price'') is not null'), (2, 'take', '(core.take_reply(%2$L)).state'), (3, 'await', '(core.await_reply(%2$L, ''0 s'')).state'), (4, 'cancel', 'core.cancel_request(%2$L)'),
      (5, 'begin', '(core_node.begin_request(%2$L)).state'), (6, 'answer', '(core_node.answer_request(%3$L, %4$L, %5$L, %6$L, 500)).state')) c (n, name, call)
   where a.namespace = p_namespace $$;
select is(pg_temp.may('t_producer', 'open'), 'ask true, take waiting, await waiting, cancel true, begin 42501, answer 42501', 'who produces asks');
select is(pg_temp.may('t_consumer', 'open'), 'ask 42501, take 42501, await 42501, cancel 42501, begin begun, answer abandoned', 'who consumes answers');
select is(pg_temp.may('t_reader', 'open'), 'ask 42501, take 42501, await 42501, cancel 42501, begin 42501, answer 42501', 'who reads does neither');
select is(pg_temp.may('t_operator', 'open'), 'ask 42501, take 42501, await 42501, cancel 42501, begin 42501, answer 42501', 'nor who operates');
select is(pg_temp.may('t_nobody', 'open'), 'ask 42501, take 42501, await 42501, cancel 42501, begin 42501, answer 42501', 'nor anybody else');
select is(pg_temp.may('t_producer', 'closed'), 'ask NX402, take NX113, await NX113, cancel false, begin 42501, answer 42501', 'a restricted one is not there');
select is(pg_temp.may('t_consumer', 'closed'), 'ask 42501, take 42501, await 42501, cancel 42501, begin gone, answer NX402', 'for who consumes neither');
select core.grant_namespace('closed', 't_producer', 'produce'), core.grant_namespace('closed', 't_consumer', 'consume');
select is(pg_temp.may('t_producer', 'closed'), 'ask true, take waiting, await waiting, cancel true, begin 42501, answer 42501', 'but with a grant');
select is(pg_temp.may('t_consumer', 'closed'), 'ask 42501, take 42501, await 42501, cancel 42501, begin begun, answer abandoned', 'for both');
create role t_both in role nexus_producer, nexus_consumer;
select core.grant_namespace('closed', 't_both', 'consume');
select is(pg_temp.may('t_both', 'closed'), 'ask NX402, take NX402, await NX402, cancel NX402, begin begun, answer abandoned', 'each by its own duty');
select is(pg_temp.said('t_reader', '(select string_agg(namespace || (requested_by is not null), chr(32)) from core.request_status)'), 'opentrue', 'readers see what they may see');
