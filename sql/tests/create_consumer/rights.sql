-- I3: who may have consumers. A restricted namespace needs a grant besides; a definer function lends no rights.
-- holds: C1
select core.create_namespace('open'), core.create_namespace('closed', '{"restricted": true}');
create role t_consumer in role nexus_consumer; create role t_producer in role nexus_producer; create role t_operator in role nexus_operator;
create function pg_temp.answer(p_role text, p_call text) returns text language plpgsql as $$
declare v_answer text;
begin
  execute format('set local role %I', p_role);
  begin
    execute format('select (core.%s)::text', p_call) into v_answer;
  exception when others then
    v_answer := sqlstate;
  end;
  reset role;
  return v_answer;
end $$;
select is(pg_temp.answer('t_' || r, c), a, r || ' ' || c)
  from (values (1, 'consumer', 'create_consumer(''open'', ''mail'', ''{a.*}'')', 'true'), (2, 'consumer', 'create_consumer(''closed'', ''mail'', ''{a.*}'')', 'NX402'),
               (3, 'consumer', 'alter_consumer(''open'', ''mail'')', '42501'), (4, 'consumer', 'pause_consumer(''open'', ''mail'')', '42501'),
               (5, 'consumer', 'resume_consumer(''open'', ''mail'')', '42501'), (6, 'consumer', 'drop_consumer(''open'', ''mail'')', '42501'),
               (7, 'producer', 'create_consumer(''open'', ''mail'', ''{a.*}'')', '42501'), (8, 'operator', 'create_consumer(''open'', ''audit'', ''{a.*}'')', 'true'),
               (9, 'operator', 'pause_consumer(''open'', ''mail'')', 'true'), (10, 'operator', 'resume_consumer(''open'', ''mail'')', 'true'),
               (11, 'operator', 'alter_consumer(''open'', ''mail'', ''{b.*}'')', '0'), (12, 'operator', 'drop_consumer(''open'', ''mail'')', ''),
               (13, 'operator', 'create_consumer(''closed'', ''mail'', ''{*}'')', 'NX402'), (14, 'operator', 'alter_consumer(''closed'', ''default'')', 'NX402'),
               (15, 'operator', 'pause_consumer(''closed'', ''default'')', 'NX402'), (16, 'operator', 'resume_consumer(''closed'', ''default'')', 'NX402'),
               (17, 'operator', 'drop_consumer(''closed'', ''mail'')', 'NX402')) v (n, r, c, a) order by n;
select is((select array_agg(action order by audit_id) from core.audit_log where namespace = 'open')::text[], array['create_consumer', 'create_consumer', 'pause_consumer', 'resume_consumer', 'alter_consumer', 'drop_consumer'], 'all of it is noted');
select core.grant_namespace('closed', 't_consumer', 'consume');
select is(pg_temp.answer('t_consumer', 'create_consumer(''closed'', ''mail'', ''{*}'')'), 'true', 'a grant to consume is enough');
grant execute on function core.create_consumer to t_producer;
select is(pg_temp.answer('t_producer', 'create_consumer(''open'', ''mail'', ''{*}'')'), 'NX401', 'who only produces is refused besides');
