-- Whoever calls this holds the lease of the message. So who began it before holds it no more, and is lost: it is not
-- run again, since nobody knows how far it came.
create or replace function core_node.begin_request(p_inbox_id uuid, out state text, out time_left interval)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := core_private.now();
    v_row core.inbox := core_private.find_request(p_inbox_id, 'consume');
begin
    state := 'gone';
    if v_row.inbox_id is null then
        return;
    end if;
    update core.inbox i
       set state = case i.state when 'waiting' then 'running' else 'answered' end,
           started_at = coalesce(i.started_at, v_now),
           status = case i.state when 'running' then 502 end,
           error = case i.state when 'running' then 'the process that ran the handler was lost' end,
           answered_at = case i.state when 'running' then v_now end
     where i.inbox_id = v_row.inbox_id and i.state in ('waiting', 'running') and i.expires_at > v_now
    returning case i.state when 'running' then 'begun' else 'lost' end, i.expires_at - v_now
         into state, time_left;
    if not found then
        state := 'late';
    end if;
end $$;
comment on function core_node.begin_request(uuid) is 'For nodes that hold the message of a request: may it run? begun: yes, for time_left. Otherwise it is acked without: lost (it was begun before; the reply is 502 now), late (it has expired, or is answered) or gone. Raises NX401, NX402.';
