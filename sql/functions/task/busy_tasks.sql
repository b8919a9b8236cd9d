-- A delivery is under way as long as its message is on the queue, parked or put off: all keep the msg_id. Acked,
-- rejected, buried and purged ones are gone, and a replay has a new msg_id. One anti-join a queue. Who holds the tasks'
-- rows forgets links that have ended. A run begins as its delivery is acked, so runs are looked at after deliveries:
-- one of the two looks sees what is handed over between them.
create or replace function core_private.busy_tasks(p_task_ids uuid[], p_forget boolean)
returns uuid[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue text;
    v_open  uuid[];
    v_busy  uuid[] := '{}';
begin
    for v_queue in
        select distinct d.queue_name
          from core_private.task_deliveries d
         where d.task_id = any (p_task_ids)
         order by 1
    loop
        -- Its messages are gone; the links show what is parked and delayed once it is there again.
        continue when to_regclass(core_private.queue_relation(v_queue)) is null;
        execute format($q$
            with seen as materialized (
                select d.msg_id, d.task_id,
                       exists (select from %s q where q.msg_id = d.msg_id)
                       or exists (
                              select from core.parked p
                               where p.event_id = d.event_id and p.queue_name = d.queue_name and p.msg_id = d.msg_id)
                       or exists (
                              select from core.delayed x
                               where x.queue_name = d.queue_name and x.msg_id = d.msg_id) as open
                  from core_private.task_deliveries d
                 where d.queue_name = $1 and d.task_id = any ($2)),
            ended as (
                delete from core_private.task_deliveries d
                 using seen s
                 where d.queue_name = $1 and d.msg_id = s.msg_id and not s.open and $3)
            select array_agg(distinct s.task_id) filter (where s.open) from seen s
            $q$, core_private.queue_relation(v_queue))
           into v_open
          using v_queue, p_task_ids, p_forget;
        v_busy := v_busy || coalesce(v_open, '{}');
    end loop;
    return v_busy || array(
        select distinct r.scheduled_task_id
          from core_private.workflow_runs r
         where r.scheduled_task_id = any (p_task_ids) and r.status in ('open', 'compensating'));
end $$;
comment on function core_private.busy_tasks(uuid[], boolean) is 'Those of the tasks with some delivery under way, replays and queues without a table aside, or a run of a workflow that a trigger started for them and that has not ended.';
