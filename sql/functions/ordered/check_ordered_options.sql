create or replace function core_private.check_ordered_options(p_options jsonb)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_key text;
begin
    foreach v_key in array array[
        'rate', 'max_in_flight', 'levels', 'unhandled_after', 'drop_unmatched', 'backfill']
    loop
        if p_options -> v_key <> 'null' then
            raise exception using errcode = 'NX225', column = v_key,
                message = format('an ordered consumer has no %s', v_key),
                hint = 'Leave it out: as many events are in hand as there are lanes, each in its turn, and what comes '
                    || 'from the log comes first.';
        end if;
    end loop;
    if p_options ? 'lanes' and not coalesce(jsonb_path_exists(p_options,
        'strict $.lanes ? (@.type() == "number" && @ >= 1 && @ <= 4096 && @.floor() == @)'), false) then
        perform core_private.fail_option('lanes', p_options -> 'lanes', 'Give 1 to 4096.');
    end if;
    if p_options -> 'exhausted' not in ('"dead"', '"halt"', 'null') then
        perform core_private.fail_option('exhausted', p_options -> 'exhausted', 'Give "dead" or "halt".');
    end if;
end $$;
comment on function core_private.check_ordered_options(jsonb) is 'Raises NX005 or NX225 for options that an ordered consumer cannot have.';
