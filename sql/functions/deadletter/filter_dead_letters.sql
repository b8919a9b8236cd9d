-- Locks what it returns; of two callers at once the second skips what the first holds.
create or replace function core_private.filter_dead_letters(p_filter jsonb)
returns setof core.dead_letters
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_known  constant text[] := array['namespace', 'ids', 'source', 'type', 'reason', 'before', 'after', 'limit'];
    v_limit  bigint := 1000;
    v_ids    bigint[];
    v_before timestamptz;
    v_after  timestamptz;
begin
    perform core_private.check_option_keys(p_filter, v_known, 'p_filter');
    if p_filter - 'limit' = '{}' then
        raise exception using errcode = 'NX009', column = 'p_filter', message = 'an empty filter would match every dead letter',
            hint = format('Give at least one of: %s.', array_to_string(v_known, ', '));
    end if;
    if p_filter ? 'limit' then
        if not coalesce(jsonb_path_exists(p_filter, 'strict $.limit ? (@.type() == "number" && @ >= 1 && @ <= 100000 && @.floor() == @)'), false) then
            raise exception using errcode = 'NX009', column = 'limit', message = format('limit cannot be %s', p_filter -> 'limit'), hint = 'Give a whole number, 1 to 100000.';
        end if;
        v_limit := (p_filter ->> 'limit')::bigint;
    end if;
    if p_filter ? 'ids' then
        if jsonb_typeof(p_filter -> 'ids') <> 'array' or exists (select from jsonb_array_elements(p_filter -> 'ids') e where e::text !~ '^[0-9]{1,18}$') then
            raise exception using errcode = 'NX009', column = 'ids', message = format('ids cannot be %s', left((p_filter -> 'ids')::text, 100)), hint = 'Give an array of dead_letter_id.';
        end if;
        v_ids := array(select e::text::bigint from jsonb_array_elements(p_filter -> 'ids') e);
    end if;
    if p_filter ? 'type' then
        perform core_private.check_pattern(p_filter ->> 'type', 'type');
    end if;
    if p_filter ? 'before' then
        v_before := core_private.parse_time(p_filter -> 'before', 'before');
    end if;
    if p_filter ? 'after' then
        v_after := core_private.parse_time(p_filter -> 'after', 'after');
    end if;
    if p_filter ? 'namespace' then
        perform core_private.require_duty(p_filter ->> 'namespace', 'operate');
    end if;
    return query
        select l.* from core.dead_letters l join core.namespaces n on n.namespace = l.namespace
         where l.status = 'pending' and core_private.has_duty(n.namespace, 'operate', n.restricted)
           and (not p_filter ? 'namespace' or l.namespace = p_filter ->> 'namespace')
           and (v_ids is null or l.dead_letter_id = any (v_ids))
           and (not p_filter ? 'source' or l.source_kind = p_filter ->> 'source')
           and (not p_filter ? 'type' or core_private.matches(p_filter ->> 'type', l.event_type))
           and (not p_filter ? 'reason' or l.reason = p_filter ->> 'reason')
           and (v_before is null or l.failed_at < v_before)
           and (v_after is null or l.failed_at >= v_after)
         order by l.dead_letter_id limit v_limit for update of l skip locked;
end $$;
comment on function core_private.filter_dead_letters(jsonb) is 'Pending dead letters by filter, locked, oldest first; only in namespaces the caller may operate. Raises NX004, NX005, NX008, NX009, NX101, NX401, NX402.';
