create or replace function core.match_back(
    p_namespace text, p_name text, p_from text, p_options jsonb = '{}')
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_trigger core.triggers := core_private.lock_trigger(p_namespace, p_name);
    v_from    timestamptz;
    v_rate    text;
begin
    perform core_private.check_option_keys(p_options, '{rate}');
    select m.from_time, m.rate
      into v_from, v_rate
      from core_private.parse_match_back(jsonb_build_object('from', p_from) || p_options) m;
    if v_from is null then
        perform core_private.fail_option('p_from', to_jsonb(p_from), 'Give "beginning", or a time of the past.');
    end if;
    perform core_private.refuse_match_back(v_trigger);
    if exists (
        select
          from core_private.backfills b
         where b.trigger_id = v_trigger.trigger_id and b.since_generation = 0 and b.from_time <= v_from
           and not exists (
               select
                 from core_private.trigger_periods p
                where p.trigger_id = b.trigger_id and p.generation >= b.generation and not p.fires)) then
        return false;
    end if;
    perform core_private.begin_match_back(v_trigger.trigger_id, 0, v_from, v_rate);
    perform core_private.audit('match_back', p_namespace, p_name, null,
        jsonb_build_object('from', p_from, 'options', p_options));
    return true;
end $$;
comment on function core.match_back(text, text, text, jsonb) is 'Has a trigger deliver what is in the log since p_from ("beginning", or a time of the past with an offset) and matches, and what it had not delivered: nothing comes twice. Ticks and nodes do it, in order of event_id; core.trigger_status shows how far. False: an earlier one covers all of it. Option rate (100/min). One that is disabled or was replaced is refused. Who may consume or operate. Raises 42501, NX004, NX005, NX014, NX101, NX114, NX401, NX402.';

create or replace function core.match_back(p_trigger_id uuid, p_from text, p_options jsonb = '{}')
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_trigger record;
begin
    select * into v_trigger from core_private.trigger_named(p_trigger_id);
    return core.match_back(v_trigger.namespace, v_trigger.name, p_from, p_options);
end $$;
comment on function core.match_back(uuid, text, jsonb) is 'core.match_back of the trigger of that id. Raises 42501, NX004, NX005, NX014, NX114, NX401, NX402.';
