-- Claims of limited workflows come one after the other: what another one has leased is counted when it has committed.
-- NULL: somebody is at it just now.
create or replace function core_private.room_for_runs(p_def_id bigint, p_now timestamptz)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_def core_private.workflow_definitions;
begin
    select * into v_def from core_private.workflow_definitions d where d.def_id = p_def_id;
    perform
       from core_private.workflow_definitions d
      where d.def_id = (
          select min(x.def_id)
            from core_private.workflow_definitions x
           where x.namespace = v_def.namespace and x.name = v_def.name)
        for no key update skip locked;
    if not found then
        return null;
    end if;
    return v_def.concurrency - (
        select count(distinct c.run_id)
          from core_private.workflow_definitions d
          join core_private.workflow_cursors c on c.def_id = d.def_id and c.token is not null
         where d.namespace = v_def.namespace and d.name = v_def.name and c.due_at > p_now);
end $$;
comment on function core_private.room_for_runs(bigint, timestamptz) is 'How many more runs of a workflow with a limit nodes may have in hand; NULL where another claim is finding out.';
