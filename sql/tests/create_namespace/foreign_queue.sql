-- A queue that another role owns cannot be adopted; the error says how it could
-- holds: NS3
create role t_other; grant usage on schema tap to t_other;
select pgmq."create"('core_events_theirs');
alter table pgmq.q_core_events_theirs owner to t_other;
create function pg_temp.refusal(out code text, out field text, out hint text) language plpgsql as $$
begin
  perform core.create_namespace('theirs');
exception when others then
  get stacked diagnostics code = returned_sqlstate, field = column_name, hint = pg_exception_hint;
end $$;
create temporary table r as select * from pg_temp.refusal();
select is((select (code, field)::text from r), '(NX202,p_namespace)', 'refused');
select alike((select hint from r), 'To adopt it: alter table pgmq.q_core_events_theirs owner to nexus_owner;%', 'with the line that mends it');
select ok(not exists (select from core.namespaces), 'and nothing is left of it');
alter table pgmq.q_core_events_theirs owner to nexus_owner;
alter table pgmq.a_core_events_theirs owner to t_other;
select is((select code from pg_temp.refusal()), 'NX202', 'the archive is looked at as well');
alter table pgmq.a_core_events_theirs owner to nexus_owner;
select ok(core.create_namespace('theirs'), 'then it is adopted');
