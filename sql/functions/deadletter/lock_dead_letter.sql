-- A caller who may not operate the namespace locks nothing. A caller without a duty in a restricted namespace gets
-- the answer of an unknown id, and so does not learn that the dead letter exists.
--
-- The clock is read when the row is locked: who waited for the lock may have lost his claim meanwhile. The namespace
-- comes before the row, as in core_private.filter_dead_letters.
create or replace function core_private.lock_dead_letter(p_dead_letter_id bigint, p_claim_token uuid = null)
returns core.dead_letters
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_row       core.dead_letters;
    v_held      boolean;
    v_namespace text := (select l.namespace from core.dead_letters l where l.dead_letter_id = p_dead_letter_id);
begin
    if v_namespace is not null and not core_private.is_hidden(v_namespace) then
        perform core_private.require_duty(v_namespace, 'operate');
        perform core_private.lock_namespace(v_namespace, false);
        select * into v_row from core.dead_letters l where l.dead_letter_id = p_dead_letter_id for update;
    end if;
    if v_row.dead_letter_id is null then
        raise exception using errcode = 'NX105', column = 'p_dead_letter_id',
            message = format('there is no dead letter %s', coalesce(p_dead_letter_id::text, 'NULL')),
            hint = 'They are listed in core.unresolved_dead_letters.';
    end if;
    if v_row.resolved_at is not null then
        raise exception using errcode = 'NX205', column = 'p_dead_letter_id',
            message = format('dead letter %s is already %s', p_dead_letter_id, v_row.resolution),
            detail = format('by %s at %s', v_row.resolved_by, core_private.iso(v_row.resolved_at)),
            hint = 'Nothing is left to do.';
    end if;
    v_held := coalesce(v_row.deadline > core_private.now(), false);
    if p_claim_token is null and v_held then
        raise exception using errcode = 'NX217', column = 'p_dead_letter_id',
            message = format('dead letter %s is claimed by %s', p_dead_letter_id, v_row.claimed_by),
            detail = format('until %s', core_private.iso(v_row.deadline)),
            hint = 'Wait until the claim ends, or give its token as p_claim_token.';
    end if;
    if p_claim_token is not null and (not v_held or v_row.claim_token <> core_private.token_mark(p_claim_token)) then
        raise exception using errcode = 'NX303', column = 'p_claim_token',
            message = format('the claim of dead letter %s is lost', p_dead_letter_id),
            detail = case when v_held
                          then format('%s has it until %s', v_row.claimed_by, core_private.iso(v_row.deadline))
                          else 'its time is over' end,
            hint = 'Roll back, and claim it anew: core.claim_dead_letters.';
    end if;
    return v_row;
end $$;
comment on function core_private.lock_dead_letter(bigint, uuid) is 'The unresolved dead letter, locked, for whoever may move it: with the token of a claim its holder, in time; without one anybody, as long as there is no claim. Raises NX105, NX205, NX217, NX303, NX401, NX402.';
