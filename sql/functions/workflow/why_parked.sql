-- A lease of what could not be read ends as one of who died; it was claimed without its journal then. What the step in
-- hand is knows the code alone, which did not live to say it; the journal knows what came before.
create or replace function core_private.why_parked(
    p_run uuid, p_path text, p_undo_key text, p_deaths integer, p_node text)
returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select format('parked: processes died in it %s times', p_deaths)
           || coalesce(', last on node ' || p_node || case when exists (
                  select
                    from core_private.workflow_cursors c
                   where c.run_id = p_run and c.path = p_path and c.plain_bytes = 0)
                  then ', whose log says if it could not be read' else '' end, '')
           || case when p_undo_key is not null then ', undoing ' || p_undo_key
                   when p_path = '' then coalesce(
                       ', in what comes after ' || (
                           select j.key
                             from core_private.workflow_journal j
                            where j.run_id = p_run and j.status = 'c'
                            order by j.completed_at desc, j.seq desc
                            limit 1), ', in its first step')
                   else '' end
$$;
comment on function core_private.why_parked(uuid, text, text, integer, text) is 'What an operator is told of a cursor that is parked: how often processes died in it, where last, and after which step. Whoever calls it has asked whether the caller may know.';
