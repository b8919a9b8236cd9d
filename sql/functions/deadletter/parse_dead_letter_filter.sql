-- What it returns goes into the statement of whoever asks: conditions is text about l, with the filter as $1 and the
-- others, in this order, as $2 to $6.
create or replace function core_private.parse_dead_letter_filter(
    p_filter jsonb,
    out ids bigint[], out failed_before timestamptz, out failed_after timestamptz, out past bigint, out names text[],
    out most bigint, out conditions text)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_known  constant text[] := array[
        'namespace', 'ids', 'source', 'trigger', 'target', 'type', 'reason', 'before', 'after', 'after_id', 'limit'];
    v_kinds  constant text[] := array(select k.kind from core_private.source_kinds() k);
    v_key    text;
begin
    perform core_private.check_option_keys(p_filter, v_known, 'p_filter');
    if p_filter - array['limit', 'after_id'] = '{}' then
        raise exception using errcode = 'NX009', column = 'p_filter',
            message = 'an empty filter would match every dead letter',
            hint = 'Give at least one of: namespace, ids, source, trigger, target, type, reason, before, after.';
    end if;
    foreach v_key in array array['namespace', 'source', 'trigger', 'target', 'type', 'reason'] loop
        if p_filter ? v_key and (jsonb_typeof(p_filter -> v_key) <> 'string' or p_filter ->> v_key = '') then
            perform core_private.fail_filter(
                v_key, p_filter -> v_key, 'Give a string that is not empty, or leave it out.');
        end if;
    end loop;
    if p_filter ->> 'source' <> all (v_kinds) then
        perform core_private.fail_filter(
            'source', p_filter -> 'source', format('Sources: %s.', array_to_string(v_kinds, ', ')));
    end if;
    if p_filter ? 'limit' then
        if not coalesce(jsonb_path_exists(p_filter,
            'strict $.limit ? (@.type() == "number" && @ >= 1 && @ <= 100000 && @.floor() == @)'), false) then
            perform core_private.fail_filter('limit', p_filter -> 'limit', 'Give a whole number, 1 to 100000.');
        end if;
        most := (p_filter ->> 'limit')::bigint;
    end if;
    past := 0;
    if p_filter ? 'after_id' then
        if (p_filter -> 'after_id')::text !~ '^[0-9]{1,18}$' then
            perform core_private.fail_filter(
                'after_id', p_filter -> 'after_id', 'Give the last_id of the batch before.');
        end if;
        past := (p_filter ->> 'after_id')::bigint;
    end if;
    if p_filter ? 'ids' then
        if jsonb_typeof(p_filter -> 'ids') <> 'array'
           or exists (select from jsonb_array_elements(p_filter -> 'ids') e where e::text !~ '^[0-9]{1,18}$') then
            perform core_private.fail_filter('ids', p_filter -> 'ids', 'Give an array of dead_letter_id.');
        end if;
        ids := array(select e::text::bigint from jsonb_array_elements(p_filter -> 'ids') e);
    end if;
    if p_filter ? 'type' then
        perform core_private.check_pattern(p_filter ->> 'type', 'type');
    end if;
    if p_filter ? 'before' then
        failed_before := core_private.parse_time(p_filter -> 'before', 'before');
    end if;
    if p_filter ? 'after' then
        failed_after := core_private.parse_time(p_filter -> 'after', 'after');
    end if;
    if p_filter ? 'namespace' then
        perform core_private.require_duty(p_filter ->> 'namespace', 'operate', 'namespace');
    end if;
    -- Rights are asked for once a namespace, and the statement has only what is asked for: to look at all there is must
    -- not take long.
    names := array(
        select n.namespace
          from core.namespaces n
         where (not p_filter ? 'namespace' or n.namespace = p_filter ->> 'namespace')
           and core_private.has_duty(n.namespace, 'operate', n.restricted)
         order by n.namespace);
    conditions := concat_ws(' and ',
        'l.resolved_at is null and l.dead_letter_id > $5 and l.namespace = any ($6)',
        case when ids is not null then 'l.dead_letter_id = any ($2)' end,
        case when p_filter ? 'source' then 'l.source_kind = $1 ->> ''source''' end,
        case when p_filter ? 'trigger'
             then '$1 ->> ''trigger'' in (l.envelope ->> ''trigger'', l.envelope ->> ''triggerId'')' end,
        case when p_filter ? 'target' then 'core_private.target_of(l.envelope) = $1 ->> ''target''' end,
        case when right(p_filter ->> 'type', 2) in ('.*', ':*')
             then 'starts_with(l.event_type, left($1 ->> ''type'', -1))'
             when p_filter ->> 'type' <> '*' then 'l.event_type = $1 ->> ''type''' end,
        case when p_filter ? 'reason' then 'l.reason = $1 ->> ''reason''' end,
        case when failed_before is not null then 'l.failed_at < $3' end,
        case when failed_after is not null then 'l.failed_at >= $4' end);
end $$;
comment on function core_private.parse_dead_letter_filter(jsonb) is 'A filter of dead letters, checked, as a condition for unresolved ones in the namespaces that the caller may operate. Raises NX004, NX005, NX008, NX009, NX101, NX401, NX402.';
