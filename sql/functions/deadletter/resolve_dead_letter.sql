create or replace function core.resolve_dead_letter(
    p_dead_letter_id bigint, p_resolution text, p_reason text, p_claim_token uuid = null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_resolution text := core_private.check_resolution(p_resolution, p_reason);
begin
    perform core_private.lock_dead_letter(p_dead_letter_id, p_claim_token);
    perform core_private.mark_resolved(array[p_dead_letter_id], v_resolution, p_reason);
end $$;
comment on function core.resolve_dead_letter(bigint, text, text, uuid) is 'Resolves one dead letter without delivering it, as ignored (its effect is not wanted) or handled_by_handler (its effect was had by other means), for a reason; one that is claimed with the token of the claim. Raises NX006, NX105, NX205, NX217, NX303, NX401, NX402.';
