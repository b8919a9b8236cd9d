-- Claims of limited workflows come one after the other: what another one has leased is counted when it has committed. A
-- run in hand is there already with all its branches, and with a lease that is over it keeps its place until somebody
-- takes it, which may be the node that renews it late; but not where its form is another one, that no node may have. A
-- cursor of it may have been due long after others that stay: it says nothing about where the next claim begins.
create or replace function core_private.runs_within_limit(
    p_def_id bigint, p_take integer, p_now timestamptz, p_from timestamptz, p_behind uuid,
    out runs uuid[], out paths text[], out dues timestamptz[], out odd boolean)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    v_def       core_private.workflow_definitions;
    v_known     uuid[];
    v_room      integer;
    v_asked     integer;
    v_found     record;
    v_new_runs  uuid[] := '{}';
    v_new_paths text[] := '{}';
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
        return;
    end if;
    v_known := array(
        select distinct c.run_id
          from core_private.workflow_definitions d
          join core_private.workflow_cursors c on c.def_id = d.def_id and c.token is not null
         where d.namespace = v_def.namespace and d.name = v_def.name and c.due_at is not null
           and (c.due_at > p_now or c.def_id = p_def_id));
    v_room := v_def.concurrency - cardinality(v_known);
    while v_room > 0 and cardinality(v_new_runs) < p_take loop
        v_asked := least(v_room, p_take);
        select array_agg(x.run_id) as runs, array_agg(x.path) as paths, array_agg(distinct x.run_id) as new
          into v_found
          from (select c.run_id, c.path
                  from core_private.workflow_cursors c
                 where c.def_id = p_def_id and c.due_at <= p_now and (c.due_at, c.run_id) >= (p_from, p_behind)
                   and c.run_id <> all (v_known)
                 order by c.due_at, c.run_id
                 limit v_asked
                   for update skip locked) x;
        exit when v_found.runs is null;
        v_known := v_known || v_found.new;
        v_room := v_room - cardinality(v_found.new);
        v_new_runs := v_new_runs || v_found.runs;
        v_new_paths := v_new_paths || v_found.paths;
        exit when cardinality(v_found.runs) < v_asked;
    end loop;
    select array_agg(x.run_id), array_agg(x.path), array_agg(x.due_at), bool_or(x.odd)
      into runs, paths, dues, odd
      from (select c.run_id, c.path,
                   case when n.run_id is null then greatest(p_from, timestamptz 'epoch') else c.due_at end as due_at,
                   c.state in ('T', 'W') or c.cancel is not null or c.deaths >= 5 as odd
              from unnest(v_known) k(run_id)
              join core_private.workflow_cursors c on c.run_id = k.run_id
              left join unnest(v_new_runs, v_new_paths) n(run_id, path) on n.run_id = c.run_id and n.path = c.path
             where c.def_id = p_def_id and c.due_at <= p_now
             order by c.due_at, c.run_id
             limit p_take
               for update of c skip locked) x;
end $$;
comment on function core_private.runs_within_limit(bigint, integer, timestamptz, timestamptz, uuid) is 'Locks cursors that are due of a workflow with a limit, p_take at most: those of runs that nodes have in hand, with all their branches, and of as many more runs as the limit lets in, the oldest first. All NULL where there is none, or another claim is finding out. odd: some only end by being due.';
