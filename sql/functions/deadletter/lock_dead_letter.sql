-- A caller who may not operate the namespace locks nothing. A caller without a duty in a restricted namespace gets
-- the answer of an unknown id, and so does not learn that the dead letter exists.
create or replace function core_private.lock_dead_letter(p_dead_letter_id bigint)
returns core.dead_letters
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_row       core.dead_letters;
    v_namespace text := (select l.namespace from core.dead_letters l where l.dead_letter_id = p_dead_letter_id);
begin
    if v_namespace is not null and not core_private.is_hidden(v_namespace) then
        perform core_private.require_duty(v_namespace, 'operate');
        select * into v_row from core.dead_letters l where l.dead_letter_id = p_dead_letter_id for update;
    end if;
    if v_row.dead_letter_id is null then
        raise exception using errcode = 'NX105', column = 'p_dead_letter_id',
            message = format('there is no dead letter %s', coalesce(p_dead_letter_id::text, 'NULL')),
            hint = 'They are listed in core.unresolved_dead_letters.';
    end if;
    if v_row.status <> 'pending' then
        raise exception using errcode = 'NX205', column = 'p_dead_letter_id',
            message = format('dead letter %s is already %s',
                p_dead_letter_id, coalesce(v_row.resolution, v_row.status)),
            detail = format('by %s at %s', v_row.resolved_by, core_private.iso(v_row.resolved_at)),
            hint = 'Nothing is left to do.';
    end if;
    return v_row;
end $$;
comment on function core_private.lock_dead_letter(bigint) is 'The pending dead letter, locked. Raises NX105, NX205, NX401, NX402.';
