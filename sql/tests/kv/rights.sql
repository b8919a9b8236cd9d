-- K7: who produces writes, who consumes or reads reads; a restricted namespace takes a grant
-- holds: K7 (rights)
select core.create_namespace('open'), core.create_namespace('closed', '{"restricted": true}');
select core.kv_set(n, 'c', 'k', '1') from unnest('{open,closed}'::text[]) n;
create role t_producer in role nexus_producer; create role t_consumer in role nexus_consumer; create role t_reader in role nexus_reader; create role t_operator in role nexus_operator;
create role t_nobody; grant usage on schema core to t_nobody;
create function pg_temp.said(p_role text, p_call text) returns text language plpgsql as $$
declare v_said text;
begin
  execute format('set local role %I', p_role);
  begin
    execute 'select (x::text is not null)::text from ' || p_call || ' x' into v_said;
    v_said := coalesce(v_said, 'none');
  exception when others then v_said := sqlstate;
  end;
  reset role;
  return v_said;
end $$;
create temp table calls (name text, call text);
insert into calls values ('set', $$core.kv_set(%L, 'c', 'k2', '1')$$), ('cas', $$core.kv_cas(%L, 'c', 'k', '1', 1)$$), ('delete', $$core.kv_delete(%L, 'c', 'k3')$$),
  ('get', $$core.kv_get(%L, 'c', 'k')$$), ('list', $$core.kv_list(%L, 'c', 'k')$$), ('view', $$(select * from core.kv where namespace = %L limit 1)$$);
create function pg_temp.may(p_role text, p_namespace text) returns text language sql as $$
  select string_agg(c.name || ' ' || pg_temp.said(p_role, format(c.call, p_namespace)), ', ' order by c.name) from calls c $$;
select is(pg_temp.may('t_producer', 'open'), 'cas true, delete true, get 42501, list 42501, set true, view 42501', 'who produces');
select is(pg_temp.may('t_consumer', 'open'), 'cas 42501, delete 42501, get true, list true, set 42501, view 42501', 'who consumes');
select is(pg_temp.may('t_reader', 'open'), 'cas 42501, delete 42501, get true, list true, set 42501, view true', 'who reads');
select is(pg_temp.may('t_operator', 'open'), 'cas 42501, delete 42501, get true, list true, set 42501, view true', 'who operates reads');
select is(pg_temp.may('t_nobody', 'open'), 'cas 42501, delete 42501, get 42501, list 42501, set 42501, view 42501', 'nobody else');
select is(pg_temp.may('t_producer', 'closed'), 'cas NX402, delete NX402, get 42501, list 42501, set NX402, view 42501', 'a restricted one: who produces');
select is(pg_temp.may('t_consumer', 'closed'), 'cas 42501, delete 42501, get NX402, list NX402, set 42501, view 42501', 'who consumes');
select is(pg_temp.may('t_reader', 'closed'), 'cas 42501, delete 42501, get NX402, list NX402, set 42501, view none', 'who reads');
select core.grant_namespace('closed', 't_producer', 'produce'), core.grant_namespace('closed', 't_consumer', 'consume'), core.grant_namespace('closed', 't_reader', 'read'), core.grant_namespace('closed', 't_operator', 'operate');
select is(pg_temp.may('t_producer', 'closed'), 'cas true, delete true, get 42501, list 42501, set true, view 42501', 'with a grant: who produces');
select is(pg_temp.may('t_consumer', 'closed'), 'cas 42501, delete 42501, get true, list true, set 42501, view 42501', 'who consumes');
select is(pg_temp.may('t_reader', 'closed'), 'cas 42501, delete 42501, get true, list true, set 42501, view true', 'who reads');
select is(pg_temp.may('t_operator', 'closed'), 'cas 42501, delete 42501, get true, list true, set 42501, view true', 'who operates');
select is(pg_temp.may('t_reader', 'nowhere'), 'cas 42501, delete 42501, get NX101, list NX101, set 42501, view none', 'no such namespace');
select is(pg_temp.may('t_producer', 'nowhere'), 'cas NX101, delete NX101, get 42501, list 42501, set NX101, view 42501', 'for who writes');
-- a definer function lends nothing
create function public.borrowed() returns boolean language sql security definer as $$ select done from core.kv_set('open', 'c', 'k', '9') $$;
grant execute on function public.borrowed() to t_reader;
select is(pg_temp.said('t_reader', 'public.borrowed()'), 'NX401', 'the login is asked');
select is((select updated_by from core.kv where key = 'k2' and namespace = 'open'), session_user || ' as t_producer', 'who wrote is kept');
