-- Asked before anything is written, since that gives the transaction an id.
create or replace function core_private.sql_due(p_consumer_id integer, p_queue text, p_keys text[] = '{*}')
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := core_private.now();
    v_to  core.consumers;
begin
    select * into v_to from core.consumers c where c.consumer_id = p_consumer_id and c.kind = 'ordered';
    if not found then
        return core_private.is_due(p_queue, p_keys);
    end if;
    return exists (
        select
          from core_private.lanes_with_work(p_consumer_id, v_to.generation) w
         where w.next_at <= v_now);
end $$;
comment on function core_private.sql_due(integer, text, text[]) is 'Whether a delivery for SQL handlers is due: of a queue as core_private.is_due says, of an ordered consumer whether a lane may have one.';
