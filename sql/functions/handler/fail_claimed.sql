create or replace function core_private.fail_claimed(
    p_consumer_id integer, p_runner text, p_ids bigint[], p_cts integer[], p_ats timestamptz[],
    p_reason text, p_error text)
returns table (outcome text, msg_id bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now    timestamptz := core_private.now();
    v_to     core.consumers;
    v_held   bigint[];
    v_failed jsonb;
begin
    select * into v_to from core.consumers c where c.consumer_id = p_consumer_id;
    if v_to.kind = 'ordered' then
        v_held := core_private.hold_heads(p_ids, p_cts, p_ats, v_now);
    end if;
    v_failed := (
        select coalesce(jsonb_agg(jsonb_build_object(
                   'id', u.id, 'ct', u.ct, 'at', u.at, 'action', 'retry', 'reason', p_reason, 'error', p_error)), '[]')
          from unnest(p_ids, p_cts, p_ats) u(id, ct, at)
         where v_held is null or u.id = any (v_held));
    if v_to.kind = 'ordered' then
        return query
            select s.outcome, s.message_id
              from core_private.settle_heads(p_runner, core_private.head_results(v_failed), false, v_now) s;
    elsif v_to.kind = 'unordered' then
        return query
            select s.outcome, s.msg_id from core_node.settle(v_to.queue_name, p_runner, '{}', '{}', '{}', v_failed) s;
    end if;
end $$;
comment on function core_private.fail_claimed(integer, text, bigint[], integer[], timestamptz[], text, text) is 'Settles what was leased for SQL handlers as failed. Raises as core_node.settle.';
