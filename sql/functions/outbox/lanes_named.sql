create or replace function core_private.lanes_named(
    p_namespace text, p_name text, p_lock boolean = false,
    out consumer_id integer, out lanes integer, out generation integer, out events boolean)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    if p_lock then
        perform
           from core.consumers c
          where c.namespace = p_namespace and c.name = p_name and c.kind in ('outbox', 'ordered')
            for no key update;
    end if;
    select c.consumer_id, c.lanes, c.generation, c.kind = 'ordered'
      into consumer_id, lanes, generation, events
      from core.consumers c
     where c.namespace = p_namespace and c.name = p_name and c.kind in ('outbox', 'ordered');
    if consumer_id is null then
        perform core_private.fail_lane('p_queue', p_name);
    end if;
end $$;
comment on function core_private.lanes_named(text, text, boolean) is 'An outbox queue or an ordered consumer by its name, whose row is locked with p_lock. Raises NX115.';
