create or replace function core_private.put_dead_letter_source(p_trigger_id uuid, p_namespace text, p_source jsonb)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
    insert into core.dead_letter_trigger_details (trigger_id, namespace, source, trigger, target)
    values (p_trigger_id, p_namespace, p_source ->> 'source', p_source ->> 'trigger', p_source ->> 'target')
    on conflict (trigger_id) do update
       set source = excluded.source, trigger = excluded.trigger, target = excluded.target
$$;
comment on function core_private.put_dead_letter_source(uuid, text, jsonb) is 'Keeps the details of a trigger of kind dead_letter.';
