create or replace function core_private.expire_keys(p_limit integer = 20000)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := core_private.now();
    v_closed text[] := core_private.closed_namespaces();
    v_n   integer;
begin
    delete from core.event_keys e
     using (select x.ctid as tid from core.event_keys x where x.expires_at <= v_now and x.namespace <> all (v_closed)
               and (x.msg_id is null or not core_private.is_pending(x.namespace, x.msg_id, x.event_id)) order by x.expires_at limit p_limit for update skip locked) old
     where e.ctid = old.tid;
    get diagnostics v_n = row_count;
    return v_n;
end $$;
comment on function core_private.expire_keys(integer) is 'Forgets up to p_limit expired dedupe keys, but for those whose event is still pending and that hold as long as it is; returns how many.';
