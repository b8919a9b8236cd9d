create or replace function core_private.why_not_replayed(
    p_source_kind text, p_namespace text, p_consumer text, p_ids bigint[])
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_function text := (select k.why from core_private.source_kinds() k where k.kind = p_source_kind);
    v_why      text := 'its source is gone';
begin
    if v_function is not null then
        execute format('select core_private.%I($1, $2, $3)', v_function)
           into v_why
          using p_namespace, p_consumer, p_ids;
    end if;
    return v_why;
end $$;
comment on function core_private.why_not_replayed(text, text, text, bigint[]) is 'Why none of these dead letters, which are of one kind, namespace and consumer, can be replayed; NULL where nothing is in the way.';
