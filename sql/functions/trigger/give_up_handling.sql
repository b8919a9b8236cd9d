-- What was delivered for a dead letter makes none of its own, so nothing goes in a circle: the dead letter says that
-- its handler failed, and stays as it was.
create or replace function core_private.give_up_handling(
    p_queue text, p_namespace text, p_ids bigint[], p_cts integer[], p_reasons text[], p_errors text[])
returns table (msg_id bigint, read_ct integer)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := core_private.now();
begin
    if not exists (select from core.triggers t where t.namespace = p_namespace and t.kind = 'dead_letter') then
        return;
    end if;
    return query execute format($q$
        with gone as (
            delete from %s q
             using unnest($1, $2, $3, $4) u(id, ct, reason, error)
             where q.msg_id = u.id and q.read_ct = u.ct and q.message ? 'deadLetterId'
               and exists (
                   select
                     from core.triggers t
                    where t.trigger_id = core_private.uuid_if_valid(q.message ->> 'triggerId')
                      and t.namespace = $5 and t.kind = 'dead_letter')
            returning q.msg_id, q.read_ct,
                      case when q.message ->> 'deadLetterId' ~ '^[0-9]{1,18}$'
                           then (q.message ->> 'deadLetterId')::bigint end as dead_letter_id,
                      core_private.clean_text(coalesce(u.error, u.reason)) as error),
        noted as (
            update core.dead_letters l
               set handler_failed_at = $6, handler_failures = l.handler_failures + f.n, handler_error = f.error
              from (select g.dead_letter_id, count(*)::integer as n,
                           (array_agg(g.error order by g.msg_id desc))[1] as error
                      from gone g
                     group by g.dead_letter_id) f
             where l.dead_letter_id = f.dead_letter_id and l.namespace = $5)
        select g.msg_id, g.read_ct from gone g
        $q$, core_private.queue_relation(p_queue))
    using p_ids, p_cts, p_reasons, p_errors, p_namespace, v_now;
end $$;
comment on function core_private.give_up_handling(text, text, bigint[], integer[], text[], text[]) is 'What core_private.bury does with deliveries of triggers of kind dead_letter: removed, and noted at their dead letters; returns them.';
