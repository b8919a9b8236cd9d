-- Emit is spared a look at core.consumers, which costs it as much as a twentieth of its time. Routed ones get no event
-- by its type.
create or replace function core_private.note_named_consumers()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_namespaces text[] := array[
        case when tg_op <> 'INSERT' then old.namespace end,
        case when tg_op <> 'DELETE' then new.namespace end];
begin
    update core.namespaces n
       set named_consumers = not n.named_consumers
     where n.namespace = any (v_namespaces)
       and n.named_consumers is distinct from exists (
           select
             from core.consumers c
            where c.namespace = n.namespace and c.name <> 'default' and not c.routed and c.kind <> 'outbox');
    return null;
end $$;
comment on function core_private.note_named_consumers() is 'Keeps core.namespaces.named_consumers.';

create or replace trigger note_named_consumers
    after insert or delete or update of namespace, name on core.consumers
    for each row execute function core_private.note_named_consumers();
