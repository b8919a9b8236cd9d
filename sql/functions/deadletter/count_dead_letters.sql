create or replace function core.count_dead_letters(p_filter jsonb)
returns bigint
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    f       record;
    v_count bigint;
begin
    select * into f from core_private.parse_dead_letter_filter(p_filter);
    execute 'select count(*) from (select from core.dead_letters l where ' || f.conditions || ' limit $7) x'
       into v_count
      using p_filter, f.ids, f.failed_before, f.failed_after, f.past, f.names, f.most;
    return v_count;
end $$;
comment on function core.count_dead_letters(jsonb) is 'How many unresolved dead letters a filter picks, exactly, claimed ones among them. Filter as for core.replay_dead_letters, but without a limit all are counted. Raises NX004, NX005, NX008, NX009, NX101, NX401, NX402.';
