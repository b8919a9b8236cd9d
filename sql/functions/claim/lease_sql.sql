create or replace function core_private.lease_sql(p_relation text, p_alone boolean)
returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    return format($q$
        update %s q
           set vt = $1 + $2, read_ct = q.read_ct + 1, last_read_at = $1%s
         where q.ctid = any ($3)
        returning 'claimed'::text, q.msg_id, q.read_ct, q.message, q.headers, null::bigint, q.last_read_at
        $q$, p_relation,
        case when p_alone then $q$,
               headers = case when q.ctid = $4 then core_private.alone_headers(q.read_ct, q.headers)
                              else q.headers end
            $q$ end);
end $$;
comment on function core_private.lease_sql(text, boolean) is 'The statement that leases rows by their places ($3), from $1 on for $2, and returns them as core_node.claim does. With p_alone, the one at $4 is marked as claimed alone.';
