create or replace function core_private.why_not_rebroadcast(p_namespace text, p_consumer text, p_ids bigint[])
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_cursor core_private.broadcast_cursors;
    v_type   text;
begin
    select c.*
      into v_cursor
      from core_private.broadcast_cursors c
     where c.namespace = p_namespace and p_consumer = 'broadcast:' || c.node_id;
    if not found then
        return case when p_consumer like 'broadcast:%' then format('node %s is gone', substr(p_consumer, 11))
                    else 'its source is gone' end;
    end if;
    if exists (
        select
          from core.dead_letters l
         where l.dead_letter_id = any (p_ids)
           and exists (select from unnest(v_cursor.patterns) p where core_private.matches(p, l.event_type))) then
        return null;
    end if;
    select min(l.event_type) into v_type from core.dead_letters l where l.dead_letter_id = any (p_ids);
    return format('node %s has no handler for broadcasts of %s', v_cursor.node_id, v_type);
end $$;
comment on function core_private.why_not_rebroadcast(text, text, bigint[]) is 'Why none of these dead broadcasts of a node can be given to it again; NULL where nothing is in the way of at least one.';
