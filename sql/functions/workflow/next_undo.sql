-- What a step did of which nobody knows whether it happened counts if its author says so.
create or replace function core_private.next_undo(p_run uuid, out key text, out ord integer[], out undo jsonb)
returns record
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select j.key, j.ord, j.undo
      from core_private.workflow_journal j
     where j.run_id = p_run and j.undo is not null and not j.inherited
       and (j.status = 'c' or j.attempts > 0 and coalesce(j.undo @> '{"on_failure": true}', false))
       and not exists (
           select
             from core_private.workflow_journal u
            where u.run_id = p_run and u.key = j.key || '~undo' and u.status = 'c')
     order by j.ord desc, j.seq desc
     limit 1
$$;
comment on function core_private.next_undo(uuid) is 'The last step of a run that is to be undone and is not; NULL: none.';
