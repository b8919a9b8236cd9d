create or replace function core_private.express_trouble(p_queue text)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_since timestamptz := core_private.now() - interval '5 minutes';
begin
    return exists (select from core_private.express_batches b where b.queue_name = p_queue and b.died_at > v_since);
end $$;
comment on function core_private.express_trouble(text) is 'Whether a node died in express within the last five minutes, so that the consumer has to use leases.';
