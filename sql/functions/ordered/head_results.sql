create or replace function core_private.head_results(p_verdicts jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        select coalesce(jsonb_agg(
                   v.v || jsonb_build_object('lane', l.lane_id, 'token', l.token, 'seq', l.seq)), '[]')
          from jsonb_array_elements(p_verdicts) v(v)
         cross join lateral core_private.lane_now((v.v ->> 'ct')::integer) l);
end $$;
comment on function core_private.head_results(jsonb) is 'What became of events at the heads of lanes that the caller has locked, {id, ct, at, action, …}, as core_private.settle_heads takes it.';
