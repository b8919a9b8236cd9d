-- Each trigger that occurs is judged once, and each role. What is judged is locked: it is in its place. What a trigger
-- that was deleted meanwhile delivers is dropped, but for a replay: somebody wanted that.
--
-- What one delivers that is held is set aside, unless somebody is changing that trigger: then it is left for the next
-- claim. Who enables it, or deletes it, waits until what is set aside here can be seen.
create or replace function core_private.judge_deliveries(
    p_queue text, p_namespace text, p_now timestamptz,
    inout tids tid[], inout alone_tids tid[], inout alone_ids bigint[],
    inout dead_ids bigint[], inout dead_cts integer[], inout dead_reasons text[])
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_relation text := core_private.queue_relation(p_queue);
    v_bad      tid[];
    v_dropped  bigint[];
    v_ids      bigint[];
    v_cts      integer[];
    v_reasons  text[];
    v_held     uuid[];
begin
    execute format($q$
        with m as materialized (
            select q.ctid as tid, q.msg_id, q.read_ct, q.message ->> 'triggerId' as trigger_id,
                   core_private.headers_object(q.headers) ? 'nexus-replay-of' as replayed
              from %s q
             where q.ctid = any ($1) and q.message ? 'triggerId'),
        judged as materialized (
            select u.id, t.trigger_id is null as gone, coalesce(t.held, false) as held, t.kind,
                   t.trigger_id, t.registered_by_principal as role
              from (select distinct m.trigger_id as id from m) u
              left join core.triggers t
                on t.trigger_id = core_private.uuid_if_valid(u.id) and t.namespace = $2),
        revoked as materialized (
            select r.kind, r.role, core_private.trigger_trouble($2, r.kind, r.role) as is
              from (select distinct j.kind, j.role from judged j where j.role is not null) r),
        bad as (
            select m.tid, m.msg_id, m.read_ct, case when j.held then j.trigger_id end as held,
                   case when j.held then null
                        when not j.gone then 'principal_revoked'
                        when m.replayed then 'trigger deleted' end as reason
              from m
              join judged j on j.id is not distinct from m.trigger_id
              left join revoked r on r.kind = j.kind and r.role = j.role
             where j.gone or j.held or r.is)
        select array_agg(b.tid) as tids,
               array_agg(b.msg_id) filter (where b.reason is null and b.held is null) as dropped,
               array_agg(b.msg_id) filter (where b.reason is not null) as ids,
               array_agg(b.read_ct) filter (where b.reason is not null) as cts,
               array_agg(b.reason) filter (where b.reason is not null) as reasons,
               array_agg(distinct b.held) filter (where b.held is not null) as held
          from bad b
        $q$, v_relation)
       into v_bad, v_dropped, v_ids, v_cts, v_reasons, v_held
      using tids || alone_tids, p_namespace;
    if v_bad is null then
        return;
    end if;
    dead_ids := dead_ids || v_ids;
    dead_cts := dead_cts || v_cts;
    dead_reasons := dead_reasons || v_reasons;
    select array_agg(u.t order by u.n) into tids from unnest(tids) with ordinality u(t, n) where u.t <> all (v_bad);
    select array_agg(u.t order by u.n), array_agg(u.i order by u.n)
      into alone_tids, alone_ids
      from unnest(alone_tids, alone_ids) with ordinality u(t, i, n)
     where u.t <> all (v_bad);
    if v_dropped is not null then
        execute format($q$
            with gone as (
                delete from %s q where q.msg_id = any ($1) returning q.message)
            insert into core.trigger_drops (namespace, event_type, trigger_id, why, deliveries, dropped_at)
            select $2, coalesce(core_private.own_type_of(g.message), 'unknown.raw'),
                   core_private.uuid_if_valid(g.message ->> 'triggerId'), 'deleted', count(*), $3
              from gone g
             group by 2, 3
            $q$, v_relation)
          using v_dropped, p_namespace, p_now;
    end if;
    if v_held is not null then
        v_held := array(
            select t.trigger_id
              from core.triggers t
             where t.trigger_id = any (v_held) and t.held
               for share skip locked);
        execute format($q$
            with gone as (
                delete from %s q
                 where q.ctid = any ($1) and core_private.uuid_if_valid(q.message ->> 'triggerId') = any ($2)
                returning q.*)
            insert into core.delayed (
                due_at, queue_name, event_type, message, headers, msg_id, read_ct, enqueued_at, last_read_at)
            select 'infinity', $3, coalesce(core_private.event_type_of(g.message), 'unknown.raw'), g.message,
                   core_private.headers_object(g.headers) || core_private.held_header(g.vt),
                   g.msg_id, g.read_ct, g.enqueued_at, g.last_read_at
              from gone g
             order by g.msg_id
            $q$, v_relation)
          using v_bad, v_held, p_queue;
    end if;
end $$;
comment on function core_private.judge_deliveries(text, text, timestamptz, tid[], tid[], bigint[], bigint[], integer[], text[]) is 'Takes out of what a claim found on the queue of a routed consumer what triggers made that were deleted, which is dropped, or are held, which is set aside, or whose role may not have it any more, which is to be buried.';
