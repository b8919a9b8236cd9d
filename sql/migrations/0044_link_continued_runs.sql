-- A run that goes on as a new one is known by its first id for as long as the newest lives, however many there were
-- between: the newest is one look away, and the first, which has the idempotency key, is removed along with it.
alter table core_private.workflow_runs
    add column first_run_id uuid;
with recursive chain as (
    select r.run_id as first_run_id, r.continued_as
      from core_private.workflow_runs r
     where r.continued_as is not null
       and not exists (select from core_private.workflow_runs p where p.run_id = r.continued_from)
     union all
    select c.first_run_id, r.continued_as
      from chain c
      join core_private.workflow_runs r on r.run_id = c.continued_as)
update core_private.workflow_runs r
   set first_run_id = c.first_run_id
  from chain c
 where r.run_id = c.continued_as;
create index workflow_runs_newest_idx on core_private.workflow_runs (first_run_id)
 where first_run_id is not null and continued_as is null;
drop index core_private.workflow_runs_finished_at_idx;
create index workflow_runs_removable_idx on core_private.workflow_runs (namespace, finished_at)
 where finished_at is not null and (continued_as is null or first_run_id is not null);
comment on column core_private.workflow_runs.first_run_id is 'The first of the runs that went on as this one; NULL: it continues none.';
