-- I3: a definer function of a user's own that emits needs its login granted; the error says so
-- holds: I3
select core.create_namespace('shop');
create role t_owner in role nexus_producer; create role t_web;
create function public.t_place() returns void language sql security definer set search_path = pg_catalog, pg_temp as $$ select core.emit('shop', 'placed') $$;
alter function public.t_place() owner to t_owner;
grant usage on schema tap, public to public; grant execute on all functions in schema tap to public;
grant all on all tables in schema pg_temp to public; grant all on all sequences in schema pg_temp to public;
create function pg_temp.refusal(p_sql text, out code text, out message text, out detail text, out hint text) language plpgsql as $$
begin
  execute p_sql;
exception when others then
  get stacked diagnostics code = returned_sqlstate, message = message_text, detail = pg_exception_detail, hint = pg_exception_hint;
end $$;
set local role t_web;
create temporary table r as select * from pg_temp.refusal('select public.t_place()');
select is((select code from r), 'NX401', 'refused');
select is((select hint from r), 'grant nexus_producer to t_web;', 'the hint is the line that mends it');
select alike((select detail from r), '%definer function%', 'the detail says why');
reset role;
grant nexus_producer to t_web;
set local role t_web;
select lives_ok('select public.t_place()', 'and then it works');
reset role;
select alike((select principal from core.event_log), '% as t_web', 'the caller is recorded, not the owner');
