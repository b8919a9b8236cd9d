-- The token itself is never here: whoever creates the trigger gives its sum.
create or replace function core_private.check_http_source(p_namespace text, p_source jsonb)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_path  text := p_source ->> 'path';
    v_names text[];
begin
    perform core_private.check_option_keys(p_source, '{method,path,token_hash,public,timeout}', 'p_source');
    if (p_source ->> 'method' in ('GET', 'POST', 'PUT', 'PATCH', 'DELETE')) is not true then
        perform core_private.fail_trigger('method',
            format('method cannot be %s', coalesce(left((p_source -> 'method')::text, 200), 'NULL')),
            'Give GET, POST, PUT, PATCH or DELETE.');
    elsif jsonb_typeof(p_source -> 'path') is distinct from 'string' or length(v_path) > 500
          or v_path !~ '^(/|(/([A-Za-z0-9_~-][A-Za-z0-9._~-]*|[{][A-Za-z_][A-Za-z0-9_]{0,62}[}])){1,32})$' then
        perform core_private.fail_trigger('path',
            format('path cannot be %s', coalesce(left((p_source -> 'path')::text, 200), 'NULL')),
            'Give one such as /orders/{id}: up to 32 segments of A-Z, a-z, 0-9 and ". _ ~ -", no dot first, '
                || 'or {name}.');
    end if;
    v_names := array(select m[1] from regexp_matches(v_path, '[{]([^}]*)[}]', 'g') m);
    if cardinality(v_names) <> (select count(distinct u.n) from unnest(v_names) u(n)) then
        perform core_private.fail_trigger('path', format('path %s has a name twice', quote_literal(v_path)),
            'Give each {name} once.');
    elsif jsonb_typeof(p_source -> 'public') <> 'boolean' then
        perform core_private.fail_trigger('public',
            format('public cannot be %s', left((p_source -> 'public')::text, 200)),
            'Give true, or token_hash in its place.');
    elsif p_source ? 'token_hash' = coalesce((p_source ->> 'public')::boolean, false) then
        perform core_private.fail_trigger('token_hash', 'a trigger of kind http has a token, or is public',
            'Give token_hash, the SHA-256 of a random token in hex, or "public": true.');
    elsif p_source ? 'token_hash' and (p_source ->> 'token_hash' ~ '^[0-9a-f]{64}$') is not true then
        perform core_private.fail_trigger('token_hash', 'token_hash is no SHA-256 in hex',
            'Give encode(sha256(convert_to(TOKEN, ''UTF8'')), ''hex'') of a random token.');
    end if;
    return jsonb_strip_nulls(jsonb_build_object(
        'method', p_source -> 'method', 'path', p_source -> 'path', 'token_hash', p_source -> 'token_hash',
        'public', case when not p_source ? 'token_hash' then true end,
        'timeout', case when p_source ? 'timeout' then
            core_private.parse_interval(p_source -> 'timeout', 'timeout', '1 ms', '5 min')::text end));
end $$;
comment on function core_private.check_http_source(text, jsonb) is 'The source of a trigger of kind http: method, path, token_hash or public, and timeout. Raises NX004, NX005, NX014.';
