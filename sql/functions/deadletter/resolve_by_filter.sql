-- The three ways to resolve without a delivery differ in the word alone.
create or replace function core_private.resolve_by_filter(p_filter jsonb, p_resolution text, p_reason text)
returns table (matched integer, done integer, skipped integer)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_ids bigint[] := array(select l.dead_letter_id from core_private.filter_dead_letters(p_filter) l);
begin
    matched := cardinality(v_ids);
    done := core_private.mark_resolved(v_ids, p_resolution, p_reason);
    skipped := matched - done;
    return next;
end $$;
comment on function core_private.resolve_by_filter(jsonb, text, text) is 'Resolves what a filter picks. Raises NX004, NX005, NX008, NX009, NX101, NX401, NX402.';
