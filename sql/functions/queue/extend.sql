create or replace function core.extend(p_queue text, p_ids bigint[], p_cts integer[], p_lease interval)
returns table (msg_id bigint)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_until timestamptz := core_private.now() + p_lease;
    v_kept  bigint[];
begin
    perform core_private.queue_owner(p_queue, 'consume');
    if cardinality(p_ids) is distinct from cardinality(p_cts) or p_lease is null or p_lease <= interval '0' or p_lease > interval '1 day' then
        raise exception using errcode = 'NX006', column = 'p_lease', message = 'p_ids and p_cts are parallel and p_lease lies in 0 to 1 day', hint = 'This function is for nodes.';
    end if;
    execute format('with kept as (update %s q set vt = $3 from unnest($1, $2) u(id, ct) where q.msg_id = u.id and q.read_ct = u.ct returning q.msg_id) select array_agg(k.msg_id) from kept k',
        core_private.queue_relation(p_queue)) into v_kept using p_ids, p_cts, v_until;
    return query select i from unnest(p_ids) i where i <> all (coalesce(v_kept, '{}'));
end $$;
comment on function core.extend(text, bigint[], integer[], interval) is 'For nodes: renews leases; returns those that were lost. Raises NX006, NX103, NX401, NX402.';
