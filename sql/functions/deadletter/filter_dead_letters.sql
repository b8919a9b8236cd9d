-- With a lock, of two callers at once the second skips what the first holds. A preview takes none.
--
-- An expired claim is none. The clock is read before the rows are locked: of a row that was claimed or given more time
-- since then the condition is asked again, and the new deadline lies beyond that clock.
--
-- A namespace is kept from being dropped before its rows are locked, since the drop takes the queues first and then the
-- rows, and who mends a dead letter needs the queues afterwards.
create or replace function core_private.filter_dead_letters(p_filter jsonb, p_lock boolean = true)
returns setof core.dead_letters
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    f     record;
    v_now timestamptz;
begin
    select * into f from core_private.parse_dead_letter_filter(p_filter);
    if p_lock then
        f.names := array(
            select n
              from unnest(f.names) n
             where exists (select from core.dead_letters l where l.namespace = n and l.resolved_at is null)
             order by n);
        perform core_private.lock_namespace(n, false) from unnest(f.names) n;
    end if;
    v_now := core_private.now();
    return query execute
        'select l.* from core.dead_letters l where ' || f.conditions
        || ' and (l.status = ''pending'' or l.deadline <= $7) order by l.dead_letter_id limit $8'
        || case when p_lock then ' for update of l skip locked' else '' end
    using p_filter, f.ids, f.failed_before, f.failed_after, f.past, f.names,
          v_now, coalesce(f.most, 1000);
end $$;
comment on function core_private.filter_dead_letters(jsonb, boolean) is 'Unresolved dead letters by filter that nobody holds a claim on, locked if p_lock, oldest first; only in namespaces the caller may operate. Raises NX004, NX005, NX008, NX009, NX101, NX401, NX402.';
