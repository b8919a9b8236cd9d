create or replace function core_private.is_blind(p_relation oid)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if not core_private.has_foreign_casts() then
        return false;
    end if;
    return exists (select from pg_attribute a
                    where a.attrelid = p_relation and a.attnum > 0 and not a.attisdropped and a.atttypid >= 16384
                      and not exists (select from pg_type t where t.oid = a.atttypid and t.typtype = 'e'));
end $$;
comment on function core_private.is_blind(oid) is 'Whether to_jsonb of a row of that table might run a function of somebody''s.';
