create or replace function core_private.definition_state(
    p_def_id bigint, out nodes text[], out runs integer, out runs_is_more boolean, out newest boolean)
returns record
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_def core_private.workflow_definitions;
    v_n   integer;
begin
    select * into v_def from core_private.workflow_definitions d where d.def_id = p_def_id;
    nodes := array(
        select l.node_id
          from core_private.live_definitions(v_def.namespace, core_private.now()) l
         where l.def_id = p_def_id
         order by l.node_id);
    select count(*)
      into v_n
      from (select
              from core_private.workflow_runs r
             where r.def_id = p_def_id and r.finished_at is null
             limit 10001) x;
    runs := least(v_n, 10000);
    runs_is_more := v_n > 10000;
    newest := core_private.newest_definition(v_def.namespace, v_def.name) = p_def_id;
end $$;
comment on function core_private.definition_state(bigint) is 'Which live nodes have a definition, and how many runs go by it. Whoever calls it has asked whether the caller may know.';
