-- An error names the verdict by its place, from 1 on, and the field.
create or replace function core_private.parse_verdicts(
    p_failed jsonb,
    out ids bigint[], out cts integer[], out ats timestamptz[], out actions text[], out afters interval[],
    out policies jsonb[], out reasons text[], out errors text[])
returns record
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_bad      bigint;
    v_field    text;
    v_policies boolean;
begin
    -- A function's rows come in their order, and so does what is gathered of them.
    select array_agg(f.id), array_agg(f.ct), array_agg(f.at), array_agg(f.action), array_agg(f.after),
           array_agg(f.policy), array_agg(core_private.clean_text(f.reason)), array_agg(f.error),
           bool_or(f.policy <> '{}'),
           min(f.n) filter (
               where f.id is null or f.ct is null
                  or coalesce(f.action, '') not in ('retry', 'reject', 'release')
                  or f.after < interval '0' or f.after > interval '30 days'
                  or f.action = 'release' and f.after is null)
      into ids, cts, ats, actions, afters, policies, reasons, errors, v_policies, v_bad
      from rows from (jsonb_to_recordset(p_failed) as (
               id bigint, ct integer, at timestamptz, action text, after interval,
               policy jsonb, reason text, error text))
           with ordinality f(id, ct, at, action, after, policy, reason, error, n);
    if v_bad is not null then
        v_field := case when ids[v_bad] is null then 'id'
                        when cts[v_bad] is null then 'ct'
                        when coalesce(actions[v_bad], '') not in ('retry', 'reject', 'release') then 'action'
                        else 'after' end;
        raise exception using errcode = 'NX005', column = format('p_failed[%s].%s', v_bad, v_field),
            message = format('p_failed[%s].%s cannot be %s', v_bad, v_field,
                coalesce(case v_field when 'action' then quote_literal(left(actions[v_bad], 100))
                                      when 'after' then afters[v_bad]::text end, 'NULL')),
            hint = 'Actions: retry (after NULL or 0 to 30 days), reject, release (after 0 to 30 days).';
    end if;
    if v_policies then
        perform core_private.check_policy(u.policy, format('p_failed[%s].policy', u.n))
           from unnest(policies) with ordinality u(policy, n)
          where u.policy <> '{}';
    end if;
exception
    when data_exception then
        raise exception using errcode = 'NX006', column = 'p_failed',
            message = format('p_failed holds no verdicts: %s', sqlerrm),
            hint = 'Give an array of objects: id, ct and at (the fence), action, after, policy, reason, error.';
end $$;
comment on function core_private.parse_verdicts(jsonb) is 'What is no ack in the results of a settlement: {id, ct, at, action, after, policy, reason, error} each. Raises NX005, NX006, NX007.';
