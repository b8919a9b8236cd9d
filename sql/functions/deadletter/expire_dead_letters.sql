create or replace function core.expire_dead_letters(p_filter jsonb, p_reason text)
returns table (matched integer, done integer, skipped integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.check_reason(p_reason);
    return query
        select r.matched, r.done, r.skipped
          from core_private.resolve_by_filter(p_filter, 'expired', p_reason) r;
end $$;
comment on function core.expire_dead_letters(jsonb, text) is 'Resolves dead letters as expired, since nobody came for them in time, for a reason. Filter as for core.replay_dead_letters. Raises NX004, NX005, NX006, NX008, NX009, NX101, NX401, NX402.';
