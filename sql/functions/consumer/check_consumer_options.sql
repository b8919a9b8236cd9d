-- With p_null, a value of null takes the default again.
create or replace function core_private.check_consumer_options(
    p_options jsonb, p_known text[], p_null boolean = false, p_ordered boolean = false)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_options jsonb;
begin
    perform core_private.check_option_keys(p_options, p_known);
    v_options := case when p_null then (select coalesce(jsonb_object_agg(o.key, o.value), '{}')
                                          from jsonb_each(p_options) o where o.value <> 'null')
                      else p_options end;
    if v_options -> 'kind' not in ('"unordered"', '"ordered"') then
        perform core_private.fail_option('kind', v_options -> 'kind', 'Give "unordered" or "ordered".');
    end if;
    p_ordered := p_ordered or coalesce(v_options ->> 'kind' = 'ordered', false);
    if p_ordered then
        perform core_private.check_ordered_options(v_options);
    elsif v_options ? 'lanes' then
        perform core_private.fail_option('lanes', v_options -> 'lanes',
            'Leave it out: an unordered consumer has none. "kind" is "ordered" for one that has.');
    end if;
    if not p_ordered and v_options ? 'exhausted' and v_options -> 'exhausted' <> '"dead"' then
        perform core_private.fail_option('exhausted', v_options -> 'exhausted',
            'Give "dead", or leave it out: what an unordered consumer gives up goes to the dead letters.');
    end if;
    if v_options ? 'retry' then
        perform core_private.check_policy(v_options -> 'retry', 'retry');
        if (v_options -> 'retry' ->> 'base')::interval > (v_options -> 'retry' ->> 'max')::interval then
            raise exception using errcode = 'NX007', column = 'retry.base',
                message = format('retry.base is %s, more than retry.max, %s',
                    v_options -> 'retry' ->> 'base', v_options -> 'retry' ->> 'max'),
                hint = 'Nothing would come of it: raise max, or lower base.';
        end if;
    end if;
    if v_options ? 'unhandled_after' then
        perform core_private.parse_interval(v_options -> 'unhandled_after', 'unhandled_after', '1 second', '1 year');
    end if;
    if v_options ? 'max_in_flight' and not coalesce(jsonb_path_exists(v_options,
        'strict $.max_in_flight ? (@.type() == "number" && @ >= 1 && @ <= 1000000 && @.floor() == @)'), false) then
        perform core_private.fail_option('max_in_flight', v_options -> 'max_in_flight',
            'Give a whole number, 1 to 1000000.');
    end if;
    if (v_options -> 'levels')::text not in ('1', '2', '3', '4') then
        perform core_private.fail_option('levels', v_options -> 'levels', 'Give 1, 2, 3 or 4.');
    end if;
    if v_options ? 'rate' then
        perform core_private.parse_rate(v_options -> 'rate');
    end if;
    if v_options ? 'from' then
        perform core_private.parse_from(v_options -> 'from', 'from');
    end if;
    if v_options ? 'backfill' then
        perform core_private.parse_from(v_options -> 'backfill', 'backfill');
    end if;
end $$;
comment on function core_private.check_consumer_options(jsonb, text[], boolean, boolean) is 'Raises NX004, NX005, NX007 or NX225 for options no consumer can have.';
