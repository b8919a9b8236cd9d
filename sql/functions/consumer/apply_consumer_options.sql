create or replace function core_private.apply_consumer_options(p_consumer_id integer, p_options jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_had boolean := (select c.max_in_flight is not null from core.consumers c where c.consumer_id = p_consumer_id);
begin
    update core.consumers c
       set retry = case when p_options ? 'retry' then coalesce(nullif(p_options -> 'retry', 'null'), '{}')
                        else c.retry end,
           unhandled_after = case when p_options ? 'unhandled_after' then (p_options ->> 'unhandled_after')::interval
                                  else c.unhandled_after end,
           max_in_flight = case when p_options ? 'max_in_flight' then (p_options ->> 'max_in_flight')::integer
                                else c.max_in_flight end,
           rate = case when p_options -> 'rate' = 'null' then null
                       when p_options ? 'rate' then core_private.parse_rate(p_options -> 'rate')
                       else c.rate end,
           levels = case when p_options ? 'levels' then coalesce((p_options ->> 'levels')::smallint, 1)
                         else c.levels end,
           exhausted = case when p_options ? 'exhausted' then coalesce(p_options ->> 'exhausted', 'dead')
                            else c.exhausted end
     where c.consumer_id = p_consumer_id;
    if not p_options ?| array['max_in_flight', 'rate'] then
        return;
    end if;
    delete from core_private.consumer_limits l
     using core.consumers c
     where l.consumer_id = p_consumer_id and c.consumer_id = p_consumer_id
       and c.max_in_flight is null and c.rate is null;
    insert into core_private.consumer_limits as l (consumer_id, counts_from)
    select c.consumer_id, core_private.now()
      from core.consumers c
     where c.consumer_id = p_consumer_id and (c.max_in_flight is not null or c.rate is not null)
    on conflict (consumer_id) do update
       set counts_from = excluded.counts_from
     where not v_had;
end $$;
comment on function core_private.apply_consumer_options(integer, jsonb) is 'Writes checked options of a consumer into their columns; null takes the default again.';
