create or replace function core_private.missing_parts(p_queue text)
returns text[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_missing text[] := '{}';
    v_known   boolean := false;
begin
    if to_regclass(core_private.queue_relation(p_queue)) is null then
        v_missing := v_missing || 'queue'::text;
    end if;
    if to_regclass(format('pgmq.%I', 'a_' || p_queue)) is null then
        v_missing := v_missing || 'archive'::text;
    end if;
    if to_regclass('pgmq.meta') is not null then
        v_known := exists (select from pgmq.meta m where m.queue_name = p_queue);
    end if;
    if not v_known then
        v_missing := v_missing || 'meta'::text;
    end if;
    return v_missing;
end $$;
comment on function core_private.missing_parts(text) is 'What a queue lacks of what pgmq makes for one: queue and archive, its tables, and meta, its row in pgmq.meta. Whoever calls it has asked whether the caller may know.';
