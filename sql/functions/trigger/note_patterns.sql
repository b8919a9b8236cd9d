-- Emit is spared a look at the routes where none can match. Beyond 100 patterns their first parts are kept; what is
-- left over of those that were deleted costs a look and no more.
create or replace function core_private.note_patterns()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_namespace text := case tg_op when 'DELETE' then old.namespace else new.namespace end;
    v_known     text[];
    v_patterns  text[];
begin
    select n.trigger_patterns into v_known from core.namespaces n where n.namespace = v_namespace;
    select array_agg(x.pattern order by x.pattern)
      into v_patterns
      from (select distinct r.pattern from core_private.event_routes r
             where r.namespace = v_namespace limit 101) x;
    if cardinality(v_patterns) > 100 then
        if tg_op = 'DELETE' or v_known = '{*}' then
            return null;
        elsif array_to_string(v_known, ' ') ~ '>' then
            v_patterns := array(select distinct u.p from unnest(v_known || core_private.first_part(new.pattern)) u(p)
                                 order by u.p);
        else
            v_patterns := array(select distinct core_private.first_part(r.pattern) as part
                                  from core_private.event_routes r
                                 where r.namespace = v_namespace order by part);
        end if;
        if cardinality(v_patterns) > 100 then
            v_patterns := '{*}';
        end if;
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
