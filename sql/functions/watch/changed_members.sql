create or replace function core_private.changed_members(p_old jsonb, p_new jsonb)
returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if jsonb_typeof(p_old) is distinct from 'object' or jsonb_typeof(p_new) is distinct from 'object' then
        return '{}';
    end if;
    return array(
        select coalesce(n.key, o.key)
          from jsonb_each(p_new) n
          full join jsonb_each(p_old) o on o.key = n.key
         where n.value is distinct from o.value
         order by 1);
end $$;
comment on function core_private.changed_members(jsonb, jsonb) is 'The members of two objects that are not the same; {} for what is no object.';
