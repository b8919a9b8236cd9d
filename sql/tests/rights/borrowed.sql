-- I3: CREATE INDEX runs a table owner's function in the session of another: the owner does there what it may, and no more
-- holds: I3-borrowed
select core.create_namespace('open'), core.create_namespace('closed', '{"restricted": true}');
select core.emit('closed', 'a');
create role t_thief in role nexus_reader, nexus_producer; create role t_app in role nexus_reader, nexus_producer;
select core.grant_namespace('closed', 't_app', d) from unnest('{produce,read}'::text[]) d;
grant create on schema public to t_thief; grant usage, create on schema public to t_app;
create table public.said (what text, outcome text);
grant select, insert on public.said to public;
create function public.act() returns void language plpgsql volatile as $$
declare s text; v_outcome text;
begin
  foreach s in array array['core.emit(''closed'', ''a'')', 'core.emit_batch(''closed'', ''{a}'', ''{1}'')', 'core.emit(''open'', ''a'')', 'core.visible_namespaces()',
                           'core.create_namespace(''mine'')', 'core.grant_namespace(''closed'', ''t_thief'', ''read'')', 'count(*) from core.event_log where namespace = ''closed'''] loop
    begin
      execute 'select ' || s into v_outcome;
    exception when others then v_outcome := sqlstate;
    end;
    insert into public.said values (s, v_outcome);
  end loop;
end $$;
create function public.index_of(i integer) returns integer language plpgsql immutable as $$ begin perform public.act(); return i; end $$;
create table public.t (i integer);
insert into public.t values (1);
alter table public.t owner to t_thief;
create function pg_temp.said(p_like text) returns text language sql as $$ select string_agg(outcome, ',') from public.said where what like p_like $$;
create index on public.t (public.index_of(i));
select is(pg_temp.said('core.emit%closed%'), '42501,42501', 'a superuser''s session emits nothing into a restricted namespace');
select is(pg_temp.said('core.emit(''open%'), '42501', 'nor under a superuser''s name into an open one');
select is(pg_temp.said('core.visible%'), '42501', 'nor says what it sees');
select is(pg_temp.said('core.create%') || ',' || pg_temp.said('core.grant%'), '42501,42501', 'nor administers');
select is(pg_temp.said('count%'), '0', 'and rows are those of the table''s owner');
delete from public.said;
-- An index of one's own is no statement of one's own either.
create role t_admin in role nexus_admin;
alter table public.t owner to t_admin;
grant create on schema public to t_admin;
set local role t_admin;
create index on public.t (public.index_of(i));
reset role;
select is(pg_temp.said('core.create%') || ',' || pg_temp.said('core.grant%'), '42501,42501', 'nor does an administrator by an index');
select is(pg_temp.said('count%'), '1', 'who sees what he may');
delete from public.said;
alter table public.t owner to t_app;
set local role t_app;
create index on public.t (public.index_of(i));
reset role;
select is(pg_temp.said('core.emit%closed%'), '42501,42501', 'a grant is not used there');
select is(pg_temp.said('count%'), '1', 'rows need no session');
select lives_ok('set local role t_app; select core.emit(''closed'', ''a''); reset role', 'in a statement of its own it is');
