-- Who begins a child holds a cursor of its parent, so the parent goes first: then its children are those that
-- there are.
create or replace function core_private.lock_tree(p_run uuid)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_child uuid;
begin
    if not core_private.lock_run(p_run, false) then
        return false;
    end if;
    -- Somebody may hold the row of a run without its cursors.
    perform from core_private.workflow_runs r where r.run_id = p_run for update skip locked;
    if not found then
        return false;
    end if;
    for v_child in
        select r.run_id
          from core_private.workflow_runs r
         where r.parent_run_id = p_run and r.finished_at is null
         order by r.run_id
    loop
        if not core_private.lock_tree(v_child) then
            return false;
        end if;
    end loop;
    return true;
end $$;
comment on function core_private.lock_tree(uuid) is 'Locks a run and all runs that are steps of it, as far as there is nobody to wait for: false where somebody has one.';
