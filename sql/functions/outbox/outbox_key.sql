-- In PL/pgSQL, whose plan is kept: in SQL it would be planned anew at each call.
create or replace function core_private.outbox_key(p_namespace text, p_queue text)
returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    return 'outbox ' || p_namespace || ' ' || p_queue;
end $$;
comment on function core_private.outbox_key(text, text) is 'The key of wake-ups for an outbox queue or an ordered consumer; of a queue also what its dedupe keys have as their namespace, since no namespace is called so.';
