-- Who opens branches holds a cursor of the run. So when all that are there are locked, none can come any more.
create or replace function core_private.lock_run(p_run uuid, p_wait boolean = true)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_locked integer;
begin
    loop
        if p_wait then
            select count(*)
              into v_locked
              from (select from core_private.workflow_cursors c where c.run_id = p_run order by c.path for update) l;
        else
            select count(*)
              into v_locked
              from (select
                      from core_private.workflow_cursors c
                     where c.run_id = p_run
                     order by c.path
                       for update skip locked) l;
        end if;
        if v_locked = (select count(*) from core_private.workflow_cursors c where c.run_id = p_run) then
            return true;
        elsif not p_wait then
            return false;
        end if;
    end loop;
end $$;
comment on function core_private.lock_run(uuid, boolean) is 'Locks all cursors of a run, in the order of their paths. Without p_wait false where somebody has one.';
