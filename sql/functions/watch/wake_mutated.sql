create or replace function core_private.wake_mutated(
    p_namespace text, p_queues text[], p_emit boolean, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.wake(u.q, p_now)
       from (select unnest(p_queues) as q
              union
             select q.queue_name from core.queues q where p_emit and q.namespace = p_namespace) u
      where u.q <> '';
end $$;
comment on function core_private.wake_mutated(text, text[], boolean, timestamptz) is 'Wakes the nodes that wait for what mutations made: on these queues, and on all of the namespace where they were emitted.';
