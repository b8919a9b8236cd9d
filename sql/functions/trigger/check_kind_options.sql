create or replace function core_private.check_kind_options(p_kind text, p_options jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if jsonb_typeof(p_options -> 'resolve') <> 'boolean' then
        perform core_private.fail_option('resolve', p_options -> 'resolve', 'Give true or false.');
    elsif p_options ? 'resolve' and p_kind <> 'dead_letter' then
        perform core_private.fail_trigger('resolve', format('a trigger of kind %s resolves nothing', p_kind),
            'Leave it out: dead letters are resolved.');
    elsif p_options ? 'mode' and (p_options ->> 'mode' in ('async', 'sync')) is not true then
        perform core_private.fail_option('mode', p_options -> 'mode', 'Give async or sync.');
    elsif p_options ->> 'mode' = 'sync' and p_kind not in ('http', 'event', 'kv') then
        perform core_private.fail_trigger('mode', format('a trigger of kind %s cannot be sync', p_kind),
            'Leave it out: its target gets deliveries.');
    elsif p_options ->> 'mode' = 'sync' and p_options ?| '{retry,consumer,match_back}' then
        perform core_private.fail_trigger('mode', 'a trigger that is sync makes no deliveries',
            'Leave out retry, consumer and match_back, which are of deliveries.');
    elsif p_options ? 'retry' and p_kind = 'dead_letter' then
        perform core_private.fail_trigger('retry', 'a handler of dead letters has one attempt',
            'Leave it out. A dead letter whose handler failed says so, and stays.');
    end if;
end $$;
comment on function core_private.check_kind_options(text, jsonb) is 'Raises NX005 or NX014 for options of core.create_trigger that a kind does not have.';
