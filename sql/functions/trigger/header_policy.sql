-- Anyone may send to a queue by hand: what settling could not take counts for nothing.
create or replace function core_private.header_policy(p_headers jsonb)
returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_policy jsonb := core_private.headers_object(p_headers) -> 'nexus-retry';
begin
    if v_policy is null then
        return '{}';
    end if;
    perform core_private.check_policy(v_policy, 'nexus-retry');
    return v_policy;
exception when others then
    return '{}';
end $$;
comment on function core_private.header_policy(jsonb) is 'The retry policy that a delivery carries with it; {} if none, or none that can be.';
