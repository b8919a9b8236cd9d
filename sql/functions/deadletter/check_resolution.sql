create or replace function core_private.check_resolution(p_resolution text, p_reason text)
returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_resolution text := case p_resolution when 'handled_by_script' then 'handled_by_handler' else p_resolution end;
begin
    if v_resolution is null or v_resolution not in ('ignored', 'handled_by_handler') then
        raise exception using errcode = 'NX006', column = 'p_resolution',
            message = format('resolution cannot be %s', coalesce(quote_literal(left(p_resolution, 100)), 'NULL')),
            hint = 'Resolutions: ignored, handled_by_handler (or handled_by_script). '
                || 'To deliver again use core.replay_dead_letters, to give up core.discard_dead_letters.';
    end if;
    if coalesce(btrim(p_reason), '') = '' then
        raise exception using errcode = 'NX006', column = 'p_reason',
            message = 'p_reason is empty',
            hint = 'Say why; it is kept with the dead letter.';
    end if;
    return v_resolution;
end $$;
comment on function core_private.check_resolution(text, text) is 'The resolution as it is stored; raises NX006.';
