-- People look at queues with pgmq's own functions, which run with their rights. The grants are the same
-- for every queue, so rows are what keeps a restricted namespace apart. current_user is who asks, also
-- where the session is another's. The owner, as whom Nexus works, is not held by it and pays nothing.
create or replace function core_private.secure_relation(p_relation text, p_namespace text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    execute format('alter table %s enable row level security', p_relation);
    execute format('drop policy if exists nexus_read on %s', p_relation);
    execute format('drop policy if exists nexus_send on %s', p_relation);
    execute format('drop policy if exists nexus_change on %s', p_relation);
    execute format('drop policy if exists nexus_remove on %s', p_relation);
    -- The sub-selects are evaluated once a statement.
    execute format($q$
        create policy nexus_read on %s
           for select using (%L = any ((select core_private.namespaces_read_by(current_user))::text[]))
        $q$, p_relation, p_namespace);
    execute format($q$
        create policy nexus_send on %s
           for insert with check ((select core_private.is_operated_by(%L, current_user)))
        $q$, p_relation, p_namespace);
    execute format($q$
        create policy nexus_change on %s
           for update using ((select core_private.is_operated_by(%L, current_user)))
        $q$, p_relation, p_namespace);
    execute format($q$
        create policy nexus_remove on %s
           for delete using ((select core_private.is_operated_by(%L, current_user)))
        $q$, p_relation, p_namespace);
end $$;
comment on function core_private.secure_relation(text, text) is
    'Opens the rows of a table of a queue to those who may see or operate a namespace; safe to run again.';
