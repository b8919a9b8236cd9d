-- Queues of others are taken for unknown ones, which nobody waits for. Who waits for timers has a flag
-- of his login's: anyone who may wait could sit on one that all share. A flag that somebody keeps in
-- an open transaction stays as it is: whoever waits looks from time to time anyway.
create or replace function core_node.wait_for_wake(p_keys text[], p_for interval)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
as $$
declare
    v_until timestamptz := core_private.now() + least(greatest(p_for, '0'), '1 minute');
begin
    if p_for is null or p_for < interval '0' or p_for > interval '1 minute' then
        raise exception using errcode = 'NX006', column = 'p_for',
            message = format('p_for cannot be %s', coalesce(p_for::text, 'NULL')),
            hint = 'Give 0 (no longer waiting) to 1 minute.';
    end if;
    begin
        insert into core_private.wake_flags as f (key, waiting_until)
        select distinct w.key, v_until
          from unnest(p_keys) k
         cross join lateral (
            select 'timers ' || core_private.caller()::text as key where k = 'timers'
             union all
            select q.queue_name
              from core.queues q
              join core.namespaces n on n.namespace = q.namespace
             where q.queue_name = k and core_private.has_duty(n.namespace, 'consume', n.restricted)
             union all
            select k
              from core.namespaces n
             where k = core_private.broadcast_key(n.namespace) and n.namespace = substr(k, 12)
               and core_private.has_duty(n.namespace, 'consume', n.restricted)
             union all
            select k
              from core.namespaces n
             where k = core_private.workflow_key(n.namespace) and n.namespace = substr(k, 11)
               and core_private.has_duty(n.namespace, 'consume', n.restricted)
             union all
            select k
              from core.consumers c
              join core.namespaces n on n.namespace = c.namespace
             where k ^@ 'outbox ' and c.kind in ('outbox', 'ordered')
               and k = core_private.outbox_key(c.namespace, c.name)
               and core_private.has_duty(n.namespace, 'consume', n.restricted)) w
         order by w.key
        on conflict (key) do update
           set waiting_until = case when p_for = interval '0' then excluded.waiting_until
                                    else greatest(f.waiting_until, excluded.waiting_until) end;
    exception when lock_not_available then
        null;
    end;
end $$;
comment on function core_node.wait_for_wake(text[], interval) is 'For nodes: says that somebody waits for these queues, for the broadcasts of a namespace (broadcasts: and its name), for its workflows (workflows: and its name), for an outbox queue or an ordered consumer (outbox, its namespace and its name), or for the key timers, so that emit and schedules notify on channel nexus_wake. Zero ends the waiting. Raises NX006.';
