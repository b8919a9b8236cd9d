create or replace function core_private.bury_found(
    p_queue text, p_namespace text, p_consumer text,
    p_ids bigint[], p_cts integer[], p_reasons text[], p_now timestamptz)
returns table (msg_id bigint, read_ct integer)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_ids     bigint[];
    v_cts     integer[];
    v_reasons text[];
    v_errors  text[];
begin
    -- What is no envelope waits as long as some live node asks for unknown.raw.
    select array_agg(d.id), array_agg(d.ct), array_agg(d.reason),
           array_agg(case d.reason when 'principal_revoked' then
               'the role that registered its trigger is gone, or has no right to it any more:'
               || ' grant it again, or core.hand_over_triggers to another one' end)
      into v_ids, v_cts, v_reasons, v_errors
      from unnest(p_ids, p_cts, p_reasons) d(id, ct, reason)
     where d.reason <> 'not an envelope'
        or not core_private.is_handled(p_namespace, p_consumer, 'unknown.raw', p_now);
    if v_ids is null then
        return;
    end if;
    return query
        select b.msg_id, b.read_ct
          from core_private.bury(p_queue, null, v_ids, v_cts, v_reasons, v_errors) b;
exception when others then
    -- What cannot be buried must not keep the others from being delivered. It comes again, and the log says why.
    execute format($q$
        update %s q
           set vt = $1
          from unnest($2, $3) u(id, ct)
         where q.msg_id = u.id and q.read_ct = u.ct
        $q$, core_private.queue_relation(p_queue))
    using p_now + interval '1 minute', v_ids, v_cts;
    raise warning 'cannot bury messages % of %: % %', v_ids[:20], p_queue, sqlstate, sqlerrm;
end $$;
comment on function core_private.bury_found(text, text, text, bigint[], integer[], text[], timestamptz) is 'Buries what a claim found that no handler may see; what cannot be buried is put off for a minute. Returns those it moved.';
