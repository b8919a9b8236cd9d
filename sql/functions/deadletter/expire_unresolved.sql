-- The namespace comes before its rows, as in core_private.filter_dead_letters. What somebody holds a claim on is left
-- for the next run, and so is what is locked: two runs at once share the work.
create or replace function core_private.expire_unresolved(p_limit integer, p_stop timestamptz)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_total integer := 0;
    v_ids   bigint[];
    v_n     text;
    v_after interval;
begin
    for v_n, v_after in
        select n.namespace, n.expire_unresolved
          from core.namespaces n
         where n.expire_unresolved is not null and n.namespace <> all (core_private.closed_namespaces())
         order by n.namespace
    loop
        perform core_private.lock_namespace(v_n, false);
        loop
            v_ids := array(
                select l.dead_letter_id
                  from core.dead_letters l
                 where l.namespace = v_n and l.resolved_at is null and l.failed_at <= v_now - v_after
                   and (l.status = 'pending' or l.deadline <= v_now)
                 order by l.dead_letter_id
                 limit p_limit
                   for update skip locked);
            v_total := v_total + core_private.mark_resolved(v_ids, 'expired', format('older than %s', v_after));
            exit when cardinality(v_ids) < p_limit or clock_timestamp() > p_stop;
        end loop;
    end loop;
    return v_total;
end $$;
comment on function core_private.expire_unresolved(integer, timestamptz) is 'Resolves as expired what nobody resolved within expire_unresolved of its namespace, p_limit a statement, until none is left or p_stop has passed; returns how many.';
