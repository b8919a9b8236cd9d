create or replace function core.discard_dead_letter(
    p_dead_letter_id bigint, p_reason text, p_claim_token uuid = null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.check_reason(p_reason);
    perform core_private.lock_dead_letter(p_dead_letter_id, p_claim_token);
    perform core_private.mark_resolved(array[p_dead_letter_id], 'discarded', p_reason);
end $$;
comment on function core.discard_dead_letter(bigint, text, uuid) is 'Resolves one dead letter as discarded, for a reason; one that is claimed with the token of the claim. Raises NX006, NX105, NX205, NX217, NX303, NX401, NX402.';
