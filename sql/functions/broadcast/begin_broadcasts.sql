-- A node that is new begins with what is not visible now, which includes what is being emitted. One that was here goes
-- on where it was. Without handlers it keeps its place, and asks for nothing. In another namespace it is another node.
create or replace function core_private.begin_broadcasts(
    p_namespace text, p_node_id text, p_patterns jsonb, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_patterns text[];
begin
    delete from core_private.broadcast_cursors c where c.node_id = p_node_id and c.namespace <> p_namespace;
    if p_patterns is null then
        update core_private.broadcast_cursors c
           set patterns = '{}'
         where c.node_id = p_node_id and c.patterns <> '{}';
        return;
    end if;
    if jsonb_typeof(p_patterns) <> 'array'
       or exists (select from jsonb_array_elements(p_patterns) e where jsonb_typeof(e) <> 'string') then
        raise exception using errcode = 'NX006', column = 'p_info',
            message = 'p_info.broadcasts is not an array of patterns',
            hint = 'Give the patterns of the types whose broadcasts the node handles.';
    end if;
    v_patterns := core_private.check_patterns(array(select jsonb_array_elements_text(p_patterns)));
    insert into core_private.broadcast_cursors as c (node_id, namespace, patterns, cluster, seen, top, began_at)
    values (p_node_id, p_namespace, v_patterns, core_private.cluster_id(), pg_current_snapshot(),
            coalesce(pg_sequence_last_value('core.broadcasts_broadcast_id_seq'), 0), p_now)
    on conflict (node_id) do update
       set patterns = excluded.patterns;
end $$;
comment on function core_private.begin_broadcasts(text, text, jsonb, timestamptz) is 'Gives a node that registers a cursor over the broadcasts of its namespace, or lets it go on with the one it has; p_patterns are those it handles, NULL: none. Raises NX006, NX008.';
