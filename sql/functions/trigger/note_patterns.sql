-- Emit is spared a look at the routes where none can match.
create or replace function core_private.note_patterns()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_namespace text := case tg_op when 'DELETE' then old.namespace else new.namespace end;
begin
    update core.namespaces n
       set trigger_patterns = p.patterns
      from (select case when count(*) > 100 then '{*}' else array_agg(x.pattern order by x.pattern) end as patterns
              from (select distinct r.pattern::text
                      from core_private.event_routes r
                     where r.namespace = v_namespace limit 101) x) p
     where n.namespace = v_namespace and n.trigger_patterns is distinct from p.patterns;
    return null;
end $$;
comment on function core_private.note_patterns() is 'Keeps core.namespaces.trigger_patterns.';

create or replace trigger note_patterns
    after insert or delete on core_private.event_routes
    for each row execute function core_private.note_patterns();
