create or replace function core_private.drop_runs(p_namespace text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Who commits a step, or begins a run as a step, holds a cursor, so cursors go first, until there are none.
    loop
        delete from core_private.workflow_cursors c
         using core_private.workflow_runs r
         where r.namespace = p_namespace and c.run_id = r.run_id;
        exit when not found;
    end loop;
    delete from core_private.workflow_journal j
     using core_private.workflow_runs r
     where r.namespace = p_namespace and j.run_id = r.run_id;
    delete from core_private.workflow_signals s where s.namespace = p_namespace;
    delete from core_private.workflow_runs r where r.namespace = p_namespace;
end $$;
comment on function core_private.drop_runs(text) is 'Removes what runs of a namespace hold that is dropped.';
