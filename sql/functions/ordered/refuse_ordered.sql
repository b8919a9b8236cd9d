create or replace function core_private.refuse_ordered(p_namespace text, p_consumer text, p_field text, p_what text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if exists (
           select
             from core.consumers c
            where c.namespace = p_namespace and c.name = p_consumer and c.kind = 'ordered') then
        raise exception using errcode = 'NX225', column = p_field,
            message = format('consumer %s is ordered, and has no %s', quote_literal(p_consumer), p_what),
            hint = 'Have an unordered consumer for that.';
    end if;
end $$;
comment on function core_private.refuse_ordered(text, text, text, text) is 'Raises NX225 for an ordered consumer.';
