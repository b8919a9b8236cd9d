-- A message that was read and never answered may have killed its process: a suspect. It goes alone, so that its next
-- death counts for it, and for nothing beside it. In a batch the last attempt goes alone, too, and while nodes die in
-- express so does the only one.
create or replace function core_private.fate_of(
    p_for text, p_read_ct integer, p_headers jsonb, p_message jsonb,
    p_types text[], p_prefixes text[], p_max_attempts integer[], p_default integer)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_valid text := core_private.event_type_of(p_message);
    v_type  text := coalesce(v_valid, 'unknown.raw');
begin
    if not ('*' = any (p_types) or v_type = any (p_types) or v_type ^@ any (p_prefixes)) then
        return case when v_valid is null then 'not an envelope' else '' end;
    elsif p_read_ct > 2147480000 or p_read_ct > 0 and core_private.attempts_used_up(
              p_read_ct, p_headers, v_type, p_types, p_max_attempts, p_default) then
        return 'not acknowledged (process lost)';
    elsif p_for = 'express' then
        return null;
    elsif p_read_ct > 0 and core_private.is_suspect(p_read_ct, p_headers) then
        return 'alone';
    elsif p_for <> 'lease' and (p_read_ct > 0 or p_for = 'trouble') and core_private.attempts_used_up(
              p_read_ct + 1,
              core_private.headers_object(p_headers) || jsonb_build_object('nexus-alone', p_read_ct + 1),
              v_type, p_types, p_max_attempts, p_default) then
        return 'alone';
    end if;
    return null;
end $$;
comment on function core_private.fate_of(text, integer, jsonb, jsonb, text[], text[], integer[], integer) is 'What becomes of a due message, by what it is claimed for (see find_due): NULL, it may be taken; alone; empty, it is of another type; or the reason to bury it.';
