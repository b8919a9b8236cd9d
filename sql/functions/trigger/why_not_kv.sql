-- The event is one as core_private.mutation_statement makes them: kv.<collection>.<op>, with the mutation.
create or replace function core_private.why_not_kv(p_trigger_id uuid, p_event_type text, p_payload jsonb)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select case when m.part is null or not core_private.matches(d.collection, m.part[1]) then 'collection'
                when not (d.ops = '{}' or m.part[2] = any (d.ops) or m.part[2] = 'truncate' and 'delete' = any (d.ops))
                then 'op'
                when m.part[2] = 'update' and d.columns <> '{}' and not exists (
                         select from unnest(d.columns) u(name) where p_payload -> 'changed' ? u.name) then 'columns'
                when not p_payload @> d.filter then 'filter' end
      from core.kv_trigger_details d
     cross join lateral (
           select regexp_match(p_event_type, '^kv[.](.+)[.](insert|update|delete|truncate)$') as part) m
     where d.trigger_id = p_trigger_id
$$;
comment on function core_private.why_not_kv(uuid, text, jsonb) is 'Why an event does not match a trigger of kind kv: collection, op, columns or filter.';
