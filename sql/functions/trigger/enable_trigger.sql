create or replace function core.enable_trigger(p_namespace text, p_name text, p_options jsonb = '{}')
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now     timestamptz := core_private.now();
    v_trigger core.triggers := core_private.lock_trigger(p_namespace, p_name);
    v_since   bigint;
    v_rate    text;
begin
    perform core_private.check_option_keys(p_options, '{match_back,rate}');
    if jsonb_typeof(p_options -> 'match_back') <> 'boolean' then
        perform core_private.fail_option('match_back', p_options -> 'match_back', 'Give true or false.');
    elsif p_options ? 'rate' then
        v_rate := core_private.parse_rate(p_options -> 'rate');
    end if;
    if v_trigger.enabled = true then
        return false;
    elsif (p_options ->> 'match_back')::boolean and (v_trigger.kind <> 'event' or v_trigger.mode = 'sync') then
        perform core_private.refuse_match_back(v_trigger);
    end if;
    -- However often it was disabled or replaced meanwhile, it delivered nothing since it was live.
    v_since := (
        select min(p.generation)
          from core_private.trigger_periods p
         where p.trigger_id = v_trigger.trigger_id
           and p.generation > all (
               select x.generation
                 from core_private.trigger_periods x
                where x.trigger_id = p.trigger_id and x.fires));
    update core.triggers t set enabled = true, updated_at = v_now where t.trigger_id = v_trigger.trigger_id;
    perform core_private.begin_period(v_trigger.trigger_id, p_namespace, true);
    if (p_options ->> 'match_back')::boolean then
        perform core_private.begin_match_back(v_trigger.trigger_id, v_since, '-infinity', v_rate);
    end if;
    perform core_private.audit('enable_trigger', p_namespace, p_name, null,
        case p_options when '{}' then '{}' else jsonb_build_object('options', p_options) end);
    return true;
end $$;
comment on function core.enable_trigger(text, text, jsonb) is 'Has emits that begin after the commit make deliveries by a trigger again, and what was held be delivered when it is due; false if they did. Options: match_back (true: what was emitted while it was disabled is delivered, too, by ticks), rate (of that, such as "100/min"). Raises 42501, NX004, NX005, NX014, NX101, NX114, NX401, NX402.';

create or replace function core.enable_trigger(p_trigger_id uuid, p_options jsonb = '{}')
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_trigger record;
begin
    select * into v_trigger from core_private.trigger_named(p_trigger_id);
    return core.enable_trigger(v_trigger.namespace, v_trigger.name, p_options);
end $$;
comment on function core.enable_trigger(uuid, jsonb) is 'core.enable_trigger of the trigger of that id. Raises 42501, NX004, NX005, NX014, NX114, NX401, NX402.';
