create or replace function core.discard_dead_letters(p_filter jsonb, p_reason text)
returns table (matched integer, done integer, skipped integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_ids bigint[];
begin
    if coalesce(btrim(p_reason), '') = '' then
        raise exception using errcode = 'NX006', column = 'p_reason', message = 'p_reason is empty', hint = 'Say why; it is kept with the dead letter.';
    end if;
    v_ids := array(select l.dead_letter_id from core_private.filter_dead_letters(p_filter) l);
    matched := cardinality(v_ids);
    done := core_private.resolve_dead_letters(v_ids, 'discarded', p_reason);
    skipped := matched - done;
    return next;
end $$;
comment on function core.discard_dead_letters(jsonb, text) is 'Resolves dead letters as discarded, for a reason. Filter as for core.replay_dead_letters. Raises NX004, NX005, NX006, NX008, NX009, NX101, NX401, NX402.';
