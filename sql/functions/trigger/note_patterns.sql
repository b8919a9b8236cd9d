-- Emit is spared a look at the routes where none can match: it asks for a type, its first part and *, and only then for
-- each pattern that could match. ? says that some have filters with a key, ! that some are sync. Beyond 100 patterns
-- their first parts are kept; what is left over of those that were deleted costs a look and no more.
create or replace function core_private.note_patterns()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_namespace text := case tg_op when 'DELETE' then old.namespace else new.namespace end;
    v_known     text[];
    v_patterns  text[];
    v_filtered  boolean;
begin
    select n.trigger_patterns into v_known from core.namespaces n where n.namespace = v_namespace;
    select array_agg(x.pattern order by x.pattern)
      into v_patterns
      from (select r.pattern from core_private.event_routes r where r.namespace = v_namespace
             union
            select r.pattern from core_private.sync_routes r where r.namespace = v_namespace
             limit 101) x;
    v_filtered := '?' = any (v_known);
    if tg_op = 'INSERT' and new.filter_key > '' then
        v_filtered := true;
    elsif tg_op = 'DELETE' and old.filter_key > '' then
        v_filtered := exists (select from core_private.event_routes r
                               where r.namespace = v_namespace and r.filter_key > '');
    end if;
    v_known := array_remove(array_remove(v_known, '?'), '!');
    if cardinality(v_patterns) > 100 then
        if tg_op = 'DELETE' or v_known = '{*}' then
            v_patterns := v_known;
        elsif '>' = any (v_known) then
            v_patterns := v_known || core_private.first_part(new.pattern);
        else
            v_patterns := array(select '>'
                                 union
                                select core_private.first_part(r.pattern)
                                  from core_private.event_routes r
                                 where r.namespace = v_namespace
                                 union
                                select core_private.first_part(r.pattern)
                                  from core_private.sync_routes r
                                 where r.namespace = v_namespace);
        end if;
    elsif v_patterns is not null then
        v_patterns := v_patterns || array(select core_private.first_part(u.p)
                                            from unnest(v_patterns) u(p)
                                           where right(u.p, 1) = '*');
    end if;
    v_patterns := (select array_agg(x.p order by x.p collate "C")
                     from (select distinct u.p from unnest(v_patterns) u(p)) x);
    if '>' = any (v_patterns) and cardinality(v_patterns) > 101 then
        v_patterns := '{*}';
    end if;
    if v_filtered and v_patterns is not null then
        v_patterns := v_patterns || text '?';
    end if;
    if exists (select from core_private.sync_routes r where r.namespace = v_namespace) then
        v_patterns := v_patterns || text '!';
    end if;
    update core.namespaces n
       set trigger_patterns = v_patterns
     where n.namespace = v_namespace and n.trigger_patterns is distinct from v_patterns;
    return null;
end $$;
comment on function core_private.note_patterns() is 'Keeps core.namespaces.trigger_patterns.';

create or replace trigger note_patterns
    after insert or delete on core_private.event_routes
    for each row execute function core_private.note_patterns();
create or replace trigger note_patterns
    after insert or delete on core_private.sync_routes
    for each row execute function core_private.note_patterns();
