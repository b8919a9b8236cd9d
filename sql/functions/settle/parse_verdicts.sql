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
    r record;
begin
    select array_agg(f.id order by f.n), array_agg(f.ct order by f.n), array_agg(f.at order by f.n),
           array_agg(f.action order by f.n), array_agg(f.after order by f.n), array_agg(f.policy order by f.n),
           array_agg(core_private.clean_text(f.reason) order by f.n), array_agg(f.error order by f.n)
      into ids, cts, ats, actions, afters, policies, reasons, errors
      from rows from (jsonb_to_recordset(p_failed) as (
               id bigint, ct integer, at timestamptz, action text, after interval,
               policy jsonb, reason text, error text))
           with ordinality f(id, ct, at, action, after, policy, reason, error, n);
    select u.*,
           case when u.id is null then 'id'
                when u.ct is null then 'ct'
                when coalesce(u.action, '') not in ('retry', 'reject', 'release') then 'action'
                else 'after' end as field
      into r
      from unnest(ids, cts, actions, afters) with ordinality u(id, ct, action, after, n)
     where u.id is null or u.ct is null
        or coalesce(u.action, '') not in ('retry', 'reject', 'release')
        or u.after < interval '0' or u.after > interval '30 days'
        or u.action = 'release' and u.after is null
     order by u.n limit 1;
    if found then
        raise exception using errcode = 'NX005', column = format('p_failed[%s].%s', r.n, r.field),
            message = format('p_failed[%s].%s cannot be %s', r.n, r.field,
                coalesce(case r.field when 'action' then quote_literal(left(r.action, 100))
                                      when 'after' then r.after::text end, 'NULL')),
            hint = 'Actions: retry (after NULL or 0 to 30 days), reject, release (after 0 to 30 days).';
    end if;
    perform core_private.check_policy(u.policy, format('p_failed[%s].policy', u.n))
       from unnest(policies) with ordinality u(policy, n)
      where u.policy <> '{}';
exception
    when data_exception then
        raise exception using errcode = 'NX006', column = 'p_failed',
            message = format('p_failed holds no verdicts: %s', sqlerrm),
            hint = 'Give an array of objects: id, ct and at (the fence), action, after, policy, reason, error.';
end $$;
comment on function core_private.parse_verdicts(jsonb) is 'What is no ack in the results of a settlement: {id, ct, at, action, after, policy, reason, error} each. Raises NX005, NX006, NX007.';
