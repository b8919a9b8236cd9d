-- What it delivered before it was replaced is known by its generation, but not by which rule.
create or replace function core_private.refuse_match_back(p_trigger core.triggers)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_trigger.kind <> 'event' then
        perform core_private.fail_trigger('p_name',
            format('trigger %s looks at no events, so it cannot look back', quote_literal(p_trigger.name)),
            'Only events are in the log.');
    elsif p_trigger.mode = 'sync' then
        perform core_private.fail_trigger('p_name',
            format('trigger %s is sync, so it cannot look back', quote_literal(p_trigger.name)),
            'It runs in the transaction that emits, and nowhere else.');
    elsif p_trigger.replaced_generation is not null then
        perform core_private.fail_trigger('p_name',
            format('trigger %s was replaced, so it cannot look back', quote_literal(p_trigger.name)),
            'Create one of another name with the option match_back: it gets all that matches.');
    elsif not p_trigger.enabled then
        perform core_private.fail_trigger('p_name',
            format('trigger %s is disabled, so it cannot look back', quote_literal(p_trigger.name)),
            'Enable it: with the option match_back it gets what was emitted meanwhile.');
    end if;
end $$;
comment on function core_private.refuse_match_back(core.triggers) is 'Raises NX014 for a trigger that cannot look back.';
