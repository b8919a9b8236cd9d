-- What these handlers leave in the session runs with the rights that its user has anyhow. The claim is committed before
-- they run, unlike that of core.work, so a death is counted.
create or replace function core_node.claim_own(p_namespace text, p_limit integer = 50)
returns table (
    consumer_id integer, queue_name text, ids bigint[], cts integer[], ats timestamptz[], within interval,
    buried integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_at_hand  integer[];
    v_handler  core_private.sql_handlers;
    v_consumer core.consumers;
    v_trouble  record;
begin
    perform core_private.require_duty(p_namespace, 'consume');
    perform core_private.refuse_borrowed_session();
    perform core_private.require_read_committed('core_node.claim_own');
    v_at_hand := array(
        select h.consumer_id
          from core_private.sql_handlers h
          join core.consumers c on c.consumer_id = h.consumer_id
         where c.namespace = p_namespace and c.state = 'active' and h.owner = session_user::regrole
         order by random());
    foreach consumer_id in array v_at_hand loop
        select * into v_consumer from core.consumers c where c.consumer_id = claim_own.consumer_id;
        continue when not found or not core_private.is_due(v_consumer.queue_name);
        select * into v_handler from core_private.sql_handlers h where h.consumer_id = claim_own.consumer_id;
        continue when not found;
        select * into v_trouble from core_private.handler_trouble(v_handler.function, v_handler.owner);
        if v_trouble.what is not null then
            raise warning using errcode = 'NX015', message = v_trouble.what, hint = v_trouble.mend;
            continue;
        end if;
        queue_name := v_consumer.queue_name; within := v_handler.timeout;
        select c.ids, c.cts, c.ats, c.buried
          into ids, cts, ats, buried
          from core_private.claim_handler(claim_own.consumer_id, p_limit, v_handler.timeout + interval '1 minute') c;
        if ids is not null or buried > 0 then
            return next;
            return;
        end if;
    end loop;
end $$;
comment on function core_node.claim_own(text, integer) is 'For nexus-node work: leases due deliveries of one consumer of the namespace whose SQL handler the session user owns, for core_node.run_own once that is committed. One row with their fences, how long a call may take, and how many were buried in place of it; none where nothing is due. Raises 42501, 55000, NX101, NX401, NX402 and as core_node.claim.';
