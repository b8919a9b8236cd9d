create or replace function core.resolve_dead_letters(p_filter jsonb, p_resolution text, p_reason text)
returns table (matched integer, done integer, skipped integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_resolution text := core_private.check_resolution(p_resolution, p_reason);
begin
    return query
        select r.matched, r.done, r.skipped
          from core_private.resolve_by_filter(p_filter, v_resolution, p_reason) r;
end $$;
comment on function core.resolve_dead_letters(jsonb, text, text) is 'Resolves dead letters without delivering them, as ignored or handled_by_handler, for a reason. Filter as for core.replay_dead_letters. Raises NX004, NX005, NX006, NX008, NX009, NX101, NX401, NX402.';
