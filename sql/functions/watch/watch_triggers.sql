-- By statement where it can be, since that costs a half: transition tables see all rows of a statement at once. A
-- statement on a partition has none of the root's, nor has what replication applies.
create or replace function core_private.watch_triggers(p_watch core.watched_tables)
returns table (name name, event text, how text, function text)
language sql immutable rows 4
set search_path = pg_catalog, pg_temp
as $$
    select 'nexus_watch_' || case when p_watch.by_row then 'rows' else o.op end,
           case when p_watch.by_row
                then (select string_agg(x, ' or ') from unnest('{insert,update,delete}'::text[]) x
                       where p_watch.ops = '{}' or x = any (p_watch.ops))
                else o.op end,
           case when p_watch.by_row then 'for each row'
                else 'referencing ' || case o.op when 'insert' then 'new table as new_rows'
                                                 when 'delete' then 'old table as old_rows'
                                                 else 'old table as old_rows new table as new_rows' end
                     || ' for each statement' end,
           case when p_watch.by_row then 'note_row' else 'note_rows' end
      from unnest('{insert,update,delete}'::text[]) o(op)
     where case when p_watch.by_row then o.op = 'insert'
                else p_watch.ops = '{}' or o.op = any (p_watch.ops) end
    union all
    select 'nexus_watch_truncate', 'truncate', 'for each statement', 'note_truncate'
     where p_watch.ops = '{}' or 'delete' = any (p_watch.ops)
$$;
comment on function core_private.watch_triggers(core.watched_tables) is 'The triggers that a watched table has to have.';
