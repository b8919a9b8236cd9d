-- Each trigger that occurs is judged once, and each role. What is judged is locked: it is in its place. What a trigger
-- that was deleted meanwhile delivers is dropped, but for a replay: somebody wanted that.
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
begin
    execute format($q$
        with m as materialized (
            select q.ctid as tid, q.msg_id, q.read_ct, q.message ->> 'triggerId' as trigger_id,
                   core_private.headers_object(q.headers) ? 'nexus-replay-of' as replayed
              from %s q
             where q.ctid = any ($1) and q.message ? 'triggerId'),
        judged as materialized (
            select u.id, t.trigger_id is null as gone, t.kind,
                   t.registered_by_principal as role
              from (select distinct m.trigger_id as id from m) u
              left join core.triggers t
                on t.trigger_id = core_private.uuid_if_valid(u.id) and t.namespace = $2),
        revoked as materialized (
            select r.kind, r.role, core_private.trigger_trouble($2, r.kind, r.role) as is
              from (select distinct j.kind, j.role from judged j where j.role is not null) r),
        bad as (
            select m.tid, m.msg_id, m.read_ct,
                   case when not j.gone then 'principal_revoked' when m.replayed then 'trigger deleted' end as reason
              from m
              join judged j on j.id is not distinct from m.trigger_id
              left join revoked r on r.kind = j.kind and r.role = j.role
             where j.gone or r.is)
        select array_agg(b.tid) as tids,
               array_agg(b.msg_id) filter (where b.reason is null) as dropped,
               array_agg(b.msg_id) filter (where b.reason is not null) as ids,
               array_agg(b.read_ct) filter (where b.reason is not null) as cts,
               array_agg(b.reason) filter (where b.reason is not null) as reasons
          from bad b
        $q$, v_relation)
       into v_bad, v_dropped, v_ids, v_cts, v_reasons
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
end $$;
comment on function core_private.judge_deliveries(text, text, timestamptz, tid[], tid[], bigint[], bigint[], integer[], text[]) is 'Takes out of what a claim found on the queue of a routed consumer what triggers made that were deleted, which is dropped, or whose role may not have it any more, which is to be buried.';
