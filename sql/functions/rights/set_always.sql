-- So that a session that plays a replica, as whoever loads data does, cannot go around them.
create or replace function core_private.set_always()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    r record;
begin
    for r in
        select t.tgrelid::regclass as relation, t.tgname as name
          from pg_trigger t
         where t.tgfoid in ('core_private.keep_audit_log()'::regprocedure, 'core_private.note_by_hand()'::regprocedure)
           and t.tgenabled = 'O'
         order by 1, 2
    loop
        execute format('alter table %s enable always trigger %I', r.relation, r.name);
    end loop;
end $$;
comment on function core_private.set_always() is 'Has the triggers that keep the audit log, and note what is written by hand, fire in every session; those that somebody disabled are left.';
