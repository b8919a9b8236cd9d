create or replace function core_private.outbox_named(
    p_namespace text, p_queue text, p_lock boolean = false,
    out consumer_id integer, out lanes integer, out generation integer, out is_strict boolean,
    out max_body_bytes integer, out lane_ids integer[])
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    if p_lock then
        perform
           from core.consumers c
          where c.namespace = p_namespace and c.name = p_queue and c.kind = 'outbox'
            for no key update;
    end if;
    select c.consumer_id, c.lanes, c.generation, q.strict, q.max_body_bytes, q.lane_ids
      into consumer_id, lanes, generation, is_strict, max_body_bytes, lane_ids
      from core.consumers c
      join core_private.outbox_queues q on q.consumer_id = c.consumer_id
     where c.namespace = p_namespace and c.name = p_queue and c.kind = 'outbox';
    if consumer_id is null then
        perform core_private.fail_lane('p_queue', p_queue);
    end if;
end $$;
comment on function core_private.outbox_named(text, text, boolean) is 'An outbox queue by its name, whose row is locked with p_lock. Raises NX115.';
