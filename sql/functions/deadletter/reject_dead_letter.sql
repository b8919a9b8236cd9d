create or replace function core.reject_dead_letter(p_dead_letter_id bigint, p_claim_token uuid, p_error text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_claim_token is null then
        raise exception using errcode = 'NX006', column = 'p_claim_token',
            message = 'p_claim_token is NULL',
            hint = 'Give the token that core.claim_dead_letters returned.';
    end if;
    if coalesce(btrim(p_error), '') = '' then
        raise exception using errcode = 'NX006', column = 'p_error',
            message = 'p_error is empty',
            hint = 'Say what went wrong; it becomes the last_error of the dead letter.';
    end if;
    perform core_private.lock_dead_letter(p_dead_letter_id, p_claim_token);
    update core.dead_letters l
       set status = 'pending', claim_token = null, deadline = null, claimed_by = null,
           attempts = l.attempts + 1, last_error = core_private.clean_text(p_error),
           last_attempt_at = core_private.now()
     where l.dead_letter_id = p_dead_letter_id;
end $$;
comment on function core.reject_dead_letter(bigint, uuid, text) is 'Gives a claimed dead letter back: it is pending again, its attempts count one more, and the error is its last_error. Raises NX006, NX105, NX205, NX303, NX401, NX402.';
