-- Functions of Nexus write as nexus_owner with the path that they pin; what is written otherwise is written by hand, by
-- the owner or a superuser too. That is the condition of the triggers, so that those who settle pay next to nothing.
-- Their argument is the column that names a row.
--
-- The statement is not kept: it may tell of other namespaces than the reader may see.
--
-- It is no lock: who means to hide may switch the triggers off, which the doctor finds. They are ALWAYS there, so that
-- session_replication_role is no way around.
create or replace function core_private.note_by_hand()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_namespace text;
    v_count     bigint;
    v_ids       text[];
    v_before    jsonb;
    v_after     jsonb;
begin
    for v_namespace, v_count, v_ids, v_before, v_after in execute format(
        case tg_op when 'TRUNCATE' then $q$
            select r.namespace, count(*), null::text[], null::jsonb, null::jsonb from %2$I.%3$I r group by r.namespace
            $q$ else $q$
            with moved as materialized (
                select m.*, row_number() over (partition by m.namespace order by m.id) as n
                  from (%4$s) m)
            select m.namespace, count(*), (array_agg(m.id::text order by m.id))[1:100],
                   jsonb_object_agg(m.id, d.before) filter (where d.before is not null),
                   jsonb_object_agg(m.id, d.after) filter (where d.after is not null)
              from moved m
              left join lateral (
                   select jsonb_object_agg(k.key, core_private.cut_value(m.before -> k.key))
                              filter (where m.before -> k.key <> 'null') as before,
                          jsonb_object_agg(k.key, core_private.cut_value(m.after -> k.key))
                              filter (where m.after -> k.key <> 'null') as after
                     from jsonb_object_keys(coalesce(m.before, m.after)) k(key)
                    where m.before -> k.key is distinct from m.after -> k.key) d on m.n <= 20
             group by m.namespace
            $q$ end,
        tg_argv[0], tg_table_schema, tg_table_name,
        format(case tg_op
            when 'INSERT' then 'select n.namespace, n.%1$I as id, null::jsonb as before, to_jsonb(n) as after
                                  from new_rows n'
            when 'DELETE' then 'select o.namespace, o.%1$I as id, to_jsonb(o) as before, null::jsonb as after
                                  from old_rows o'
            else 'select coalesce(n.namespace, o.namespace) as namespace, coalesce(o.%1$I, n.%1$I) as id,
                         to_jsonb(o) as before, to_jsonb(n) as after
                    from old_rows o
                    full join new_rows n on n.%1$I = o.%1$I' end, tg_argv[0]))
    loop
        perform core_private.audit('by hand', v_namespace, case when v_count = 1 then v_ids[1] end, null,
            jsonb_build_object('table', tg_table_schema || '.' || tg_table_name, 'operation', lower(tg_op),
                'rows', v_count, 'first_ids', v_ids, 'before', v_before, 'after', v_after));
    end loop;
    return null;
end $$;
comment on function core_private.note_by_hand() is 'Records what was written to a table of Nexus by no function of it: who, how many rows of which namespace, and of the first 20 what they were and are.';

create or replace trigger note_insert_by_hand after insert on core.dead_letters
    referencing new table as new_rows for each statement
    when (current_user <> 'nexus_owner' or current_setting('search_path') <> 'pg_catalog, pg_temp')
    execute function core_private.note_by_hand('dead_letter_id');
create or replace trigger note_update_by_hand after update on core.dead_letters
    referencing old table as old_rows new table as new_rows for each statement
    when (current_user <> 'nexus_owner' or current_setting('search_path') <> 'pg_catalog, pg_temp')
    execute function core_private.note_by_hand('dead_letter_id');
create or replace trigger note_delete_by_hand after delete on core.dead_letters
    referencing old table as old_rows for each statement
    when (current_user <> 'nexus_owner' or current_setting('search_path') <> 'pg_catalog, pg_temp')
    execute function core_private.note_by_hand('dead_letter_id');
create or replace trigger note_truncate_by_hand before truncate on core.dead_letters
    for each statement execute function core_private.note_by_hand('dead_letter_id');

create or replace trigger note_insert_by_hand after insert on core.triggers
    referencing new table as new_rows for each statement
    when (current_user <> 'nexus_owner' or current_setting('search_path') <> 'pg_catalog, pg_temp')
    execute function core_private.note_by_hand('trigger_id');
create or replace trigger note_update_by_hand after update on core.triggers
    referencing old table as old_rows new table as new_rows for each statement
    when (current_user <> 'nexus_owner' or current_setting('search_path') <> 'pg_catalog, pg_temp')
    execute function core_private.note_by_hand('trigger_id');
create or replace trigger note_delete_by_hand after delete on core.triggers
    referencing old table as old_rows for each statement
    when (current_user <> 'nexus_owner' or current_setting('search_path') <> 'pg_catalog, pg_temp')
    execute function core_private.note_by_hand('trigger_id');
create or replace trigger note_truncate_by_hand before truncate on core.triggers
    for each statement execute function core_private.note_by_hand('trigger_id');

create or replace trigger note_insert_by_hand after insert on core.handlers
    referencing new table as new_rows for each statement
    when (current_user <> 'nexus_owner' or current_setting('search_path') <> 'pg_catalog, pg_temp')
    execute function core_private.note_by_hand('key');
create or replace trigger note_update_by_hand after update on core.handlers
    referencing old table as old_rows new table as new_rows for each statement
    when (current_user <> 'nexus_owner' or current_setting('search_path') <> 'pg_catalog, pg_temp')
    execute function core_private.note_by_hand('key');
create or replace trigger note_delete_by_hand after delete on core.handlers
    referencing old table as old_rows for each statement
    when (current_user <> 'nexus_owner' or current_setting('search_path') <> 'pg_catalog, pg_temp')
    execute function core_private.note_by_hand('key');
create or replace trigger note_truncate_by_hand before truncate on core.handlers
    for each statement execute function core_private.note_by_hand('key');

create or replace trigger note_insert_by_hand after insert on core.watched_tables
    referencing new table as new_rows for each statement
    when (current_user <> 'nexus_owner' or current_setting('search_path') <> 'pg_catalog, pg_temp')
    execute function core_private.note_by_hand('watch_id');
create or replace trigger note_update_by_hand after update on core.watched_tables
    referencing old table as old_rows new table as new_rows for each statement
    when (current_user <> 'nexus_owner' or current_setting('search_path') <> 'pg_catalog, pg_temp')
    execute function core_private.note_by_hand('watch_id');
create or replace trigger note_delete_by_hand after delete on core.watched_tables
    referencing old table as old_rows for each statement
    when (current_user <> 'nexus_owner' or current_setting('search_path') <> 'pg_catalog, pg_temp')
    execute function core_private.note_by_hand('watch_id');
create or replace trigger note_truncate_by_hand before truncate on core.watched_tables
    for each statement execute function core_private.note_by_hand('watch_id');
