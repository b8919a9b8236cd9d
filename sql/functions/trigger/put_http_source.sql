create or replace function core_private.put_http_source(p_trigger_id uuid, p_namespace text, p_source jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_shape text := core_private.path_shape(p_source ->> 'path');
    v_other text := (
        select t.name
          from core.http_trigger_details d
          join core.triggers t on t.trigger_id = d.trigger_id
         where d.namespace = p_namespace and d.method = p_source ->> 'method' and d.shape = v_shape
           and d.trigger_id <> p_trigger_id);
begin
    if v_other is not null then
        raise exception using errcode = 'NX212', column = 'path',
            message = format('trigger %s of namespace %s has %s %s', quote_literal(v_other),
                             quote_literal(p_namespace), p_source ->> 'method', v_shape),
            hint = 'Delete that one, or give another method or path; names of segments make no difference.';
    end if;
    insert into core.http_trigger_details (trigger_id, namespace, method, path, shape, token_hash, timeout)
    values (
        p_trigger_id, p_namespace, p_source ->> 'method', p_source ->> 'path', v_shape,
        decode(p_source ->> 'token_hash', 'hex'), (p_source ->> 'timeout')::interval)
    on conflict (trigger_id) do update
       set method = excluded.method, path = excluded.path, shape = excluded.shape,
           token_hash = excluded.token_hash, timeout = excluded.timeout;
end $$;
comment on function core_private.put_http_source(uuid, text, jsonb) is 'Keeps the details of a trigger of kind http. Raises NX212.';
