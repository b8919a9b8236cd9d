create or replace function core_private.why_not_rebroadcast(p_namespace text, p_consumer text, p_ids bigint[])
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select case when not exists (
        select
          from core_private.broadcast_cursors c
         where c.namespace = p_namespace and p_consumer = 'broadcast:' || c.node_id)
        then case when p_consumer like 'broadcast:%' then format('node %s is gone', substr(p_consumer, 11))
                  else 'its source is gone' end end
$$;
comment on function core_private.why_not_rebroadcast(text, text, bigint[]) is 'Why dead broadcasts of a node cannot be given to it again; NULL where nothing is in the way.';
