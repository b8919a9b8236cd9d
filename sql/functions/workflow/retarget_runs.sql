-- Runs of a definition that no live node has go to one that a node has, where it begins with the steps that they have
-- begun. A few thousand a call, from where the last one ended, so that those that fit nowhere cost a look now and then.
-- A step that has failed and may be tried again is not begun. Where the new code has another one there, its attempts
-- and its row are nothing of that one, and nothing of the same step elsewhere.
create or replace function core_private.retarget_runs(p_limit integer = 2000)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
    v_now    timestamptz := core_private.now();
    v_closed text[] := core_private.closed_namespaces();
    v_n      integer := 0;
    v_seen   uuid[];
    v_fit    uuid[];
    v_locked text[];
    v_after  uuid;
    r        record;
begin
    for r in
        select o.def_id, o.namespace, o.prefix_hashes, t.def_id as to_def,
               core_private.common_steps(o.prefix_hashes, t.prefix_hashes) as common
          from core_private.workflow_definitions o
         cross join lateral (
             select d.def_id, d.prefix_hashes
               from core_private.live_definitions(o.namespace, v_now) l
               join core_private.workflow_definitions d on d.def_id = l.def_id
              where d.name = o.name
              order by d.last_registered_at desc, d.def_id desc
              limit 1) t
         where o.namespace <> all (v_closed)
           and exists (
               select
                 from core_private.workflow_runs w
                where w.def_id = o.def_id and w.finished_at is null)
           and not exists (
               select
                 from core_private.live_definitions(o.namespace, v_now) l
                where l.def_id = o.def_id)
         order by o.def_id
    loop
        v_after := (select g.after
                      from core_private.workflow_retargets g
                     where g.def_id = r.def_id and g.to_def = r.to_def);
        v_seen := array(
            select w.run_id
              from core_private.workflow_runs w
             where w.def_id = r.def_id and w.finished_at is null and (v_after is null or w.run_id > v_after)
             order by w.run_id
             limit p_limit);
        select coalesce(array_agg(l.run_id || l.path), '{}')
          into v_locked
          from (select c.run_id, c.path
                  from core_private.workflow_cursors c
                 where c.run_id = any (v_seen) and c.run_id in (
                     select x.run_id
                       from core_private.workflow_cursors x
                      where x.run_id = any (v_seen) and x.path = '' and x.entered <= r.common)
                 order by c.run_id, c.path
                   for update skip locked) l;
        v_fit := array(
            select c.run_id
              from core_private.workflow_cursors c
             where c.run_id = any (v_seen)
             group by c.run_id
            having bool_and(c.run_id || c.path = any (v_locked))
               and not bool_or(c.token is not null and coalesce(c.due_at, c.sql_due_at) > v_now));
        update core_private.workflow_cursors c set def_id = r.to_def where c.run_id = any (v_fit);
        update core_private.workflow_runs w set def_id = r.to_def, updated_at = v_now where w.run_id = any (v_fit);
        with gone as (
            delete from core_private.workflow_journal j
             where j.run_id = any (v_fit) and j.status = 'p' and j.ord[1] >= r.common
            returning j.run_id)
        update core_private.workflow_cursors c
           set attempt = 0
          from gone g
         where c.run_id = g.run_id and c.path = '';
        v_n := v_n + cardinality(v_fit);
        if cardinality(v_fit) > 0 then
            perform core_private.wake_workflows(r.namespace, v_now);
        end if;
        if cardinality(v_seen) < p_limit then
            delete from core_private.workflow_retargets g where g.def_id = r.def_id;
        else
            insert into core_private.workflow_retargets as g (def_id, to_def, after)
            values (r.def_id, r.to_def, v_seen[cardinality(v_seen)])
            on conflict (def_id) do update
               set to_def = excluded.to_def, after = excluded.after;
        end if;
    end loop;
    return v_n;
end $$;
comment on function core_private.retarget_runs(integer) is 'Gives runs whose definition no live node has to the newest one that a live node has, where that fits; how many.';
