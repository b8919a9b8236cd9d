-- In the transaction of the ack, before it: the fence is asked for with the row locked. Whoever moved the dead letter
-- meanwhile is heard first.
create or replace function core_private.resolve_handled(
    p_queue text, p_namespace text, p_ids bigint[], p_cts integer[], p_ats timestamptz[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := core_private.now();
    v_ids bigint[];
begin
    if not exists (
        select from core.triggers t where t.namespace = p_namespace and t.kind = 'dead_letter' and t.resolve) then
        return;
    end if;
    execute format($q$
        select array_agg((x.message ->> 'deadLetterId')::bigint)
          from (select q.message
                  from unnest($1, $2, $3) u(id, ct, at)
                  join %s q on q.msg_id = u.id and q.read_ct = u.ct and (q.last_read_at = u.at or $3 is null)
                 where q.message ->> 'deadLetterId' ~ '^[0-9]{1,18}$'
                 order by q.msg_id for update of q) x
          join core.triggers t on t.trigger_id = core_private.uuid_if_valid(x.message ->> 'triggerId')
         where t.namespace = $4 and t.kind = 'dead_letter' and t.resolve
        $q$, core_private.queue_relation(p_queue))
       into v_ids
      using p_ids, p_cts, p_ats, p_namespace;
    if v_ids is null then
        return;
    end if;
    v_ids := array(
        select l.dead_letter_id
          from core.dead_letters l
         where l.dead_letter_id = any (v_ids) and l.namespace = p_namespace
           and l.resolved_at is null and (l.status = 'pending' or l.deadline <= v_now)
         order by l.dead_letter_id
           for update);
    perform core_private.mark_resolved(v_ids, 'handled_by_handler', null);
end $$;
comment on function core_private.resolve_handled(text, text, bigint[], integer[], timestamptz[]) is 'Resolves dead letters whose handlers are acknowledged here, where their triggers have the option resolve and nobody else has them; p_ats of NULL: an express batch, whose rows are locked.';
