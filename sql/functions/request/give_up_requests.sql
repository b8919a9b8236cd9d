-- A request is no dead letter: whoever waits is told, and somebody else asks again or does not.
create or replace function core_private.give_up_requests(
    p_queue text, p_ids bigint[], p_cts integer[], p_reasons text[])
returns table (msg_id bigint, read_ct integer)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := core_private.now();
begin
    return query execute format($q$
        with gone as (
            delete from %s q
             using unnest($1, $2, $3) u(id, ct, reason)
             where q.msg_id = u.id and q.read_ct = u.ct
               and core_private.uuid_if_valid(q.message ->> 'replyTo') is not null
            returning q.msg_id, q.read_ct, core_private.uuid_if_valid(q.message ->> 'replyTo') as inbox_id, u.reason),
        told as (
            update core.inbox i
               set state = 'answered', status = case i.state when 'running' then 502 else 503 end,
                   error = g.reason, answered_at = $4
              from gone g
             where i.inbox_id = g.inbox_id and i.state in ('waiting', 'running'))
        select g.msg_id, g.read_ct from gone g
        $q$, core_private.queue_relation(p_queue))
    using p_ids, p_cts, p_reasons, v_now;
end $$;
comment on function core_private.give_up_requests(text, bigint[], integer[], text[]) is 'What core_private.bury does with the messages that are requests: removed, and answered by 502 if they were begun, else by 503; returns them.';
