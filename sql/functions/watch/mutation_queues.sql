-- The first look, before any row is read. Its plan is kept, since one for the very patterns would be made each time.
create or replace function core_private.mutation_queues(p_namespace text, p_collection text, p_op text)
returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
    v_patterns text[] := core_private.patterns_of(p_collection);
    v_queues   text[];
begin
    select array_agg(distinct r.queue_name)
      into v_queues
      from core_private.kv_routes r
     where r.namespace = p_namespace and r.pattern = any (v_patterns) and (r.ops = '{}' or p_op = any (r.ops));
    return v_queues;
end $$;
comment on function core_private.mutation_queues(text, text, text) is 'The queues of the triggers that such a mutation can fire; NULL if there are none.';
