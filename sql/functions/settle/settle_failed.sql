-- The policy of each row is the one that it carries, over the handler's over the consumer's over the
-- namespace's. A retry whose
-- attempts are used up is buried. An express batch was never leased: its failures are counted as read
-- here, and reads before that nobody answered are given back.
--
-- What is settled gives its fence up: last_read_at moves by a microsecond for a retry, by two for a
-- release. So the same result, sent again because its answer was lost, finds no lease and changes
-- nothing, and why_unsettled reads from the row what was made of it.
create or replace function core_private.settle_failed(
    p_queue text, p_node text, p_namespace text, p_consumer text, p_retry jsonb,
    p_ids bigint[], p_cts integer[], p_ats timestamptz[], p_actions text[], p_afters interval[],
    p_policies jsonb[], p_reasons text[], p_errors text[], p_express boolean = false)
returns table (outcome text, msg_id bigint, due_at timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now      timestamptz := core_private.now();
    v_relation text := core_private.queue_relation(p_queue);
    v_read     integer := p_express::integer;
    v_done     bigint[] := '{}';
    v_dead_ids     bigint[];
    v_dead_cts     integer[];
    v_dead_reasons text[];
    v_dead_errors  text[];
    v_ct     integer;
    v_reason text;
    v_error  text;
    r        record;
begin
    p_node := left(p_node, 200);
    -- The attempt a row stands at is in its headers; reading it locks the row, so that the fence still holds below.
    for outcome, msg_id, due_at, v_ct, v_reason, v_error in execute format($q$
        with held as materialized (
            select u.*, $8 || coalesce(u.policy, '{}')
                       || case when q.headers ? 'nexus-retry' then core_private.header_policy(q.headers)
                               else '{}' end as effective,
                   case when $10 > 0 then core_private.attempts_counted(q.read_ct, q.headers)
                        else core_private.attempt_of(q.read_ct - 1, q.headers) end + 1 as attempt
              from %1$s q
              join unnest($1, $2, $11, $3, $4, $5, $6, $7) u(id, ct, at, action, after, policy, reason, error)
                on q.msg_id = u.id and q.read_ct = u.ct and ($10 > 0 or q.last_read_at = u.at)
             order by q.msg_id for update of q),
        fate as materialized (
            select h.*,
                   case when h.action = 'retry'
                         and coalesce((h.effective ->> 'max_attempts')::integer, 10) > 0
                         and h.attempt >= coalesce((h.effective ->> 'max_attempts')::integer, 10)
                        then 'exhausted' else h.action end as fate
              from held h),
        live as materialized (
            select f.*, $9 + coalesce(f.after, core_node.retry_delay(f.effective, f.attempt)) as due
              from fate f
             where f.fate in ('retry', 'release')),
        put as (
            update %1$s q
               set vt = u.due, read_ct = q.read_ct + $10,
                   last_read_at = case
                       when $10 > 0 then $9
                       when u.fate = 'retry' then q.last_read_at + interval '1 us'
                       else q.last_read_at + interval '2 us' end,
                   headers =
                       case when $10 > 0 and q.read_ct > 0 then core_private.counted_headers(q.read_ct, q.headers)
                            else core_private.headers_object(q.headers) end
                       || jsonb_build_object('nexus-due', core_private.iso(u.due))
                       || case u.fate
                          when 'release' then jsonb_build_object(
                              'nexus-deferrals', q.read_ct + $10 - u.attempt + 1)
                          else jsonb_build_object(
                              'nexus-failures',
                              coalesce(core_private.header_number(q.headers, 'nexus-failures'), 0) + 1,
                              'nexus-first-at',
                              coalesce(core_private.header_number(q.headers, 'nexus-first-at'),
                                       (extract(epoch from case when $10 > 0 then $9 else q.last_read_at end)
                                        * 1000000)::bigint)) end
              from live u
             where q.msg_id = u.id
            returning q.msg_id, q.message, u.fate, u.attempt, u.reason, u.error, u.due),
        history as (
            insert into core.delivery_errors (
                namespace, consumer, queue_name, msg_id, event_id, event_uid, event_type,
                attempt, action, reason, error, node_id, failed_at, due_at, trigger_id)
            select $12, $13, $14, p.msg_id,
                   case when p.message ->> 'eventId' ~ '^[0-9]{1,18}$'
                        then (p.message ->> 'eventId')::bigint end,
                   core_private.uuid_if_valid(p.message ->> 'eventUid'),
                   coalesce(core_private.own_type_of(p.message), 'unknown.raw'),
                   p.attempt, 'retry', p.reason, core_private.clean_text(coalesce(p.error, p.reason, '')),
                   $15, $9, p.due, core_private.uuid_if_valid(p.message ->> 'triggerId')
              from put p
             where p.fate = 'retry')
        select case p.fate when 'retry' then 'retried' else 'released' end, p.msg_id, p.due, null, null, null
          from put p
        union all
        select 'buried', f.id, null, f.ct,
               coalesce(nullif(f.reason, ''),
                        case f.fate when 'exhausted' then 'attempts used up' else 'rejected' end),
               f.error
          from fate f
         where f.fate in ('exhausted', 'reject')
        $q$, v_relation)
        using p_ids, p_cts, p_actions, p_afters, p_policies, p_reasons, p_errors, p_retry, v_now, v_read, p_ats,
              p_namespace, p_consumer, p_queue, p_node
    loop
        if outcome = 'buried' then
            v_dead_ids := v_dead_ids || msg_id;
            v_dead_cts := v_dead_cts || v_ct;
            v_dead_reasons := v_dead_reasons || v_reason;
            v_dead_errors := v_dead_errors || v_error;
        else
            v_done := v_done || msg_id;
            return next;
        end if;
    end loop;
    if v_dead_ids is not null then
        if p_express then
            execute format($q$
                with counted as (
                    update %s q
                       set read_ct = q.read_ct + 1, last_read_at = $2,
                           headers = case when q.read_ct > 0 then core_private.counted_headers(q.read_ct, q.headers)
                                          else q.headers end
                      from unnest($1) u(id)
                     where q.msg_id = u.id
                    returning q.msg_id, q.read_ct)
                select array_agg(c.read_ct order by u.n)
                  from unnest($1) with ordinality u(id, n)
                  join counted c on c.msg_id = u.id
                $q$, v_relation)
               into v_dead_cts
              using v_dead_ids, v_now;
        end if;
        for r in
            select b.msg_id
              from core_private.bury(p_queue, p_node, v_dead_ids, v_dead_cts, v_dead_reasons, v_dead_errors) b
        loop
            outcome := 'buried'; msg_id := r.msg_id; due_at := null;
            v_done := v_done || r.msg_id;
            return next;
        end loop;
    end if;
    if cardinality(v_done) < cardinality(p_ids) then
        return query
            select s.outcome, s.msg_id, s.due_at
              from (select coalesce(array_agg(u.id), '{}') as ids, array_agg(u.ct) as cts, array_agg(u.at) as ats
                      from unnest(p_ids, p_cts, p_ats) u(id, ct, at)
                     where u.id <> all (v_done)) n
             cross join lateral core_private.why_unsettled(p_queue, n.ids, n.cts, n.ats) s;
    end if;
end $$;
comment on function core_private.settle_failed(text, text, text, text, jsonb, bigint[], integer[], timestamptz[], text[], interval[], jsonb[], text[], text[], boolean) is 'The part of core_node.settle and core_node.settle_batch that is no ack; what parse_verdicts read.';
