-- Each in a subtransaction, so that one that fails leaves the others alone. Started and ended by the wall clock for the
-- duration, due by the database clock. One that somebody else is at is left to him, or run beside him, which is
-- recorded nowhere.
create or replace function core_private.run_one_sweep(p_name text, p_wait boolean, p_leave boolean)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_sweep  core_private.sweeps;
    v_now    timestamptz := core_private.now();
    v_begin  timestamptz := clock_timestamp();
    v_result jsonb;
    v_error  text;
    v_mine   boolean;
begin
    if p_wait then
        perform from core_private.sweeps s where s.name = p_name for update;
    else
        perform from core_private.sweeps s where s.name = p_name for update skip locked;
    end if;
    v_mine := found;
    if not exists (select from core_private.sweeps s where s.name = p_name) then
        perform core_private.register_sweeps(p_name); -- somebody deleted its row
        perform from core_private.sweeps s where s.name = p_name for update;
        v_mine := found;
    end if;
    select * into v_sweep from core_private.sweeps s where s.name = p_name;
    if v_sweep is null then
        raise exception using errcode = 'NX106', column = 'p_name',
            message = format('there is no sweep %s', coalesce(quote_literal(left(p_name, 100)), 'NULL')),
            hint = 'Sweeps are listed in core.sweep_status.';
    end if;
    if not v_mine and p_leave then
        return null;
    end if;
    begin
        execute format('select to_jsonb(%s)', v_sweep.function) into v_result;
    exception when others then
        v_error := sqlstate || ' ' || sqlerrm;
    end;
    if not v_mine then
        return jsonb_strip_nulls(
            jsonb_build_object('sweep', p_name, 'result', v_result, 'error', v_error, 'beside', true));
    end if;
    update core_private.sweeps s
       set last_started_at = v_now,
           last_ms = extract(epoch from clock_timestamp() - v_begin) * 1000,
           last_ok_at = case when v_error is null then v_now else s.last_ok_at end,
           last_result = coalesce(v_result, s.last_result),
           last_error = v_error,
           failures = case when v_error is null then 0 else s.failures + 1 end
     where s.name = p_name;
    return jsonb_strip_nulls(jsonb_build_object('sweep', p_name, 'result', v_result, 'error', v_error));
end $$;
comment on function core_private.run_one_sweep(text, boolean, boolean) is 'Runs one registered sweep and records how it went; p_wait: after whoever is at it, p_leave: not beside him (NULL then). Raises NX106.';
