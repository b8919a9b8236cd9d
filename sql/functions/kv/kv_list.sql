-- In the order of the primary key, from the prefix on; the first key without it ends the list. So nothing has to be
-- known about what the greatest key with a prefix is, which depends on the encoding of the database.
create or replace function core.kv_list(
    p_namespace text, p_collection text, p_prefix text = null, p_after text = null, p_limit integer = 100,
    p_values boolean = true)
returns table (
    key text, value jsonb, version bigint, created_at timestamptz, updated_at timestamptz, expires_at timestamptz,
    updated_by text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
#variable_conflict use_column
declare
    v_now timestamptz := core_private.now();
    v_n   integer := 0;
    v_row core.kv_entries;
begin
    perform core_private.require_kv_reading(p_namespace);
    perform core_private.check_kv_collection(p_collection);
    perform core_private.check_number(p_limit, 'p_limit', 1, 1000);
    for v_row in
        select *
          from core.kv_entries k
         where k.namespace = p_namespace and k.collection = p_collection collate "C"
           and k.key >= greatest(coalesce(p_prefix, ''), coalesce(p_after, '')) collate "C"
         order by k.key
    loop
        exit when not starts_with(v_row.key, coalesce(p_prefix, '') collate "C");
        continue when v_row.key = p_after collate "C" or v_row.expires_at <= v_now;
        key := v_row.key;
        value := case when p_values is not false then v_row.value end;
        version := v_row.version;
        created_at := v_row.created_at;
        updated_at := v_row.updated_at;
        expires_at := v_row.expires_at;
        updated_by := v_row.updated_by;
        return next;
        v_n := v_n + 1;
        exit when v_n = p_limit;
    end loop;
end $$;
comment on function core.kv_list(text, text, text, text, integer, boolean) is 'Keys of a collection that begin with p_prefix, in the order of their bytes, from p_after on without it, up to p_limit (1 to 1,000); value is NULL where p_values is false. The last key is the p_after of the next page. Raises NX001, NX006, NX016, NX101, NX401, NX402.';
