create or replace function core.replay_dead_letters(p_filter jsonb, p_options jsonb = '{}')
returns table (matched integer, done integer, skipped integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_ids bigint[];
    v_max integer;
    v_dry boolean;
begin
    perform core_private.check_option_keys(p_options, array['payload', 'dry_run']);
    if jsonb_typeof(p_options -> 'dry_run') <> 'boolean' then
        perform core_private.fail_option('dry_run', p_options -> 'dry_run', 'Give true or false.');
    end if;
    v_dry := coalesce((p_options ->> 'dry_run')::boolean, false);
    if p_options ? 'payload' then
        if jsonb_typeof(p_filter -> 'ids') is distinct from 'array' or jsonb_array_length(p_filter -> 'ids') <> 1 then
            perform core_private.fail_option('payload', '"…"', 'An edited payload needs a filter with one id.');
        end if;
        select min(n.max_payload_bytes) into v_max from core.namespaces n
          join core.dead_letters l on l.namespace = n.namespace where l.dead_letter_id = case when p_filter -> 'ids' ->> 0 ~ '^[0-9]{1,18}$' then (p_filter -> 'ids' ->> 0)::bigint end;
        perform core_private.check_payload(p_options -> 'payload', coalesce(v_max, 8388608), 'payload');
    end if;
    v_ids := array(select l.dead_letter_id from core_private.filter_dead_letters(p_filter) l);
    matched := cardinality(v_ids);
    -- Really done, then undone: a dry run fails where the real one would.
    begin
        select count(*)::integer into done from core_private.replay(v_ids, p_options -> 'payload');
        if v_dry then
            raise exception using errcode = 'NXDRY', message = 'dry run';
        end if;
    exception when sqlstate 'NXDRY' then
        null;
    end;
    skipped := matched - done;
    return next;
end $$;
comment on function core.replay_dead_letters(jsonb, jsonb) is 'Delivers dead letters again, attempts starting afresh, and resolves them as replayed. Filter: namespace, ids, source, type, reason, before, after, limit (1,000). Options: payload (edited, one id only), dry_run. Scheduled events are due again at once. skipped counts those whose consumer or source is gone. Raises NX003, NX004, NX005, NX008, NX009, NX101, NX401, NX402, NX601.';
