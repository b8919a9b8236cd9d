-- Volatile, so that it sees what the same statement has promoted. A queue that somebody has locked
-- keeps what is due on it for a later call, so the answer may lie in the past; nodes rest in between.
create or replace function core_node.next_delayed_due()
returns timestamptz
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    v_closed text[] := core_private.closed_queues();
    v_first  record;
begin
    select d.due_at, d.queue_name
      into v_first
      from core.delayed d
     where d.due_at < 'infinity' and d.queue_name <> all (v_closed)
     order by d.due_at limit 1;
    if v_first.queue_name is null or to_regclass(core_private.queue_relation(v_first.queue_name)) is not null then
        return v_first.due_at;
    end if;
    -- The first of each queue that has its table, found by skipping along the index.
    return (
        with recursive s as (
            (select d.queue_name, d.due_at from core.delayed d order by d.queue_name, d.due_at limit 1)
            union all
            select n.queue_name, n.due_at
              from s
             cross join lateral (
                select d.queue_name, d.due_at
                  from core.delayed d
                 where d.queue_name > s.queue_name
                 order by d.queue_name, d.due_at limit 1) n)
        select nullif(min(s.due_at), 'infinity')
          from s
         where s.queue_name <> all (v_closed)
           and to_regclass(core_private.queue_relation(s.queue_name)) is not null);
end $$;
comment on function core_node.next_delayed_due() is 'For nodes: when the next delayed delivery is due, but for restricted namespaces in which the caller may neither consume nor operate, and for queues without a table; NULL if none waits for a time.';
