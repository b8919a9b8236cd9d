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
         where t.tgrelid in ('core.audit_log'::regclass, 'core.dead_letters'::regclass)
           and t.tgname in ('keep_rows', 'keep_all', 'note_insert_by_hand', 'note_update_by_hand',
                            'note_delete_by_hand', 'note_truncate_by_hand')
           and t.tgenabled = 'O'
         order by 1, 2
    loop
        execute format('alter table %s enable always trigger %I', r.relation, r.name);
    end loop;
end $$;
comment on function core_private.set_always() is 'Has the triggers that keep the audit log, and note what is written by hand, fire in every session; those that somebody disabled are left.';
