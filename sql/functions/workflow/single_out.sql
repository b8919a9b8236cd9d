-- A process that dies takes with it all that it has in hand, and of these one may be the reason: as long as several
-- in which processes died often go on together, none is found. The next comes when this one has committed, or died.
-- The caller holds the cursors.
create or replace function core_private.single_out(p_runs uuid[], p_paths text[], p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
    update core_private.workflow_cursors c
       set token = null, due_at = p_now + interval '5 seconds', deaths = c.deaths + (c.token is not null)::integer
      from (select x.run_id, x.path, x.def_id,
                   row_number() over (partition by x.def_id order by x.due_at, x.run_id, x.path) as place
              from unnest(p_runs, p_paths) u(run_id, path)
              join core_private.workflow_cursors x on x.run_id = u.run_id and x.path = u.path
             where x.deaths >= 5 and x.state in ('R', 'U') and x.due_at <= p_now and x.cancel is null) s
     where c.run_id = s.run_id and c.path = s.path
       and (s.place > 1 or exists (
           select
             from core_private.workflow_cursors o
            where o.def_id = s.def_id and o.token is not null and o.due_at > p_now and o.deaths >= 5));
end $$;
comment on function core_private.single_out(uuid[], text[], timestamptz) is 'Of runs in which processes have died five times since their last commit, one of each definition is in hand at a time: the others are due later.';
