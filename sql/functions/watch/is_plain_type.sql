-- json may hold what jsonb refuses, jsonb, numeric and what is made of them what a payload does.
create or replace function core_private.is_plain_type(p_type oid, p_typmod integer)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select p_type = any ('{int2,int4,int8,float4,float8,text,varchar,bpchar,name,bool,bytea,uuid,date,time,timetz,
                           timestamp,timestamptz,interval,oid,inet,cidr,macaddr,bit,varbit}'::regtype[]::oid[])
        or p_type = 'numeric'::regtype and p_typmod > 0 and (p_typmod - 4) >> 16 <= 300
        or exists (select from pg_type t where t.oid = p_type and t.typtype = 'e')
$$;
comment on function core_private.is_plain_type(oid, integer) is 'Whether jsonb and payloads take every value of it.';
