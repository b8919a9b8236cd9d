create or replace function core_private.check_ordered_results(p_results jsonb)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    r record;
begin
    for r in
        select u.*
          from rows from (jsonb_to_recordset(p_results) as (
                   lane integer, token uuid, seq bigint, id bigint, action text, after interval, policy jsonb,
                   reason text, error text))
               with ordinality u(lane, token, seq, id, action, after, policy, reason, error, n)
    loop
        if r.lane is null or r.token is null or r.seq is null or r.id is null
           or coalesce(r.action, '') not in ('ack', 'retry', 'reject', 'release')
           or r.after not between interval '0' and interval '30 days' or r.action = 'release' and r.after is null then
            raise exception using errcode = 'NX005',
                column = format('p_results[%s].%s', r.n,
                    case when r.lane is null then 'lane' when r.token is null then 'token' when r.seq is null then 'seq'
                         when r.id is null then 'id'
                         when coalesce(r.action, '') not in ('ack', 'retry', 'reject', 'release') then 'action'
                         else 'after' end),
                message = format('p_results[%s] is no result', r.n),
                hint = 'Give lane, token, seq and id as they came, and an action: ack, retry (after NULL or 0 to 30 '
                    || 'days), reject, release (after 0 to 30 days).';
        end if;
        if r.policy <> '{}' then
            perform core_private.check_policy(r.policy, format('p_results[%s].policy', r.n));
        end if;
    end loop;
exception
    when data_exception then
        raise exception using errcode = 'NX006', column = 'p_results',
            message = format('p_results holds no results: %s', sqlerrm),
            hint = 'Give an array of objects: lane, token, seq, id, action, after, policy, reason, error.';
end $$;
comment on function core_private.check_ordered_results(jsonb) is 'Raises NX005, NX006 or NX007 for what core_node.settle_ordered does not take.';
