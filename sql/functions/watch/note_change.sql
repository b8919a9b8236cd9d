create or replace function core_private.note_change(
    p_watch core.watched_tables, p_op text, p_old jsonb, p_new jsonb, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_omitted text[] := '{}';
    v_keys    text[];
    v_shown   text[];
    v_key     jsonb;
begin
    if p_op <> 'insert' and p_old is null then
        v_omitted := v_omitted || 'old'::text;
    end if;
    if p_op <> 'delete' and p_new is null then
        v_omitted := v_omitted || 'new'::text;
    end if;
    if p_op = 'update' and not p_watch.unchanged and p_old = p_new then
        return;
    end if;
    select array_agg(a.attname::text order by a.attnum)
               filter (where a.attnum = any (coalesce(k.indkey::smallint[], p_watch.key))),
           array_agg(a.attname::text)
               filter (where a.attnum = any (p_watch.columns || coalesce(k.indkey::smallint[], p_watch.key)))
      into v_keys, v_shown
      from pg_attribute a
      left join lateral (
           select i.indkey from pg_index i
            where i.indrelid = p_watch.relation and (i.indisprimary or i.indisreplident) and i.indisvalid
            order by i.indisprimary desc limit 1) k on true
     where a.attrelid = p_watch.relation and a.attnum > 0 and not a.attisdropped;
    if p_watch.columns <> '{}' then
        p_old := (select jsonb_object_agg(e.key, e.value) from jsonb_each(p_old) e where e.key = any (v_shown));
        p_new := (select jsonb_object_agg(e.key, e.value) from jsonb_each(p_new) e where e.key = any (v_shown));
        if p_op = 'update' and not p_watch.unchanged and p_old = p_new then
            return;
        end if;
    end if;
    if v_keys is not null and v_omitted <> '{}' then
        v_omitted := 'key'::text || v_omitted;
    elsif v_keys is not null then
        v_key := (select jsonb_object_agg(u.c, coalesce(p_new, p_old) -> u.c) from unnest(v_keys) u(c));
    end if;
    perform core_private.note_mutation(
        p_watch.namespace, p_watch.collection, p_op, v_key, p_old, p_new,
        case when p_op = 'update' then core_private.changed_members(p_old, p_new) end, p_now, p_watch.emit,
        case when v_omitted <> '{}' then case when p_op = 'update' and v_keys is not null then '{key,old,new}'
                                              when p_op = 'update' then '{old,new}' else v_omitted end end);
end $$;
comment on function core_private.note_change(core.watched_tables, text, jsonb, jsonb, timestamptz) is 'Makes a mutation of what became of one row of a watched table, NULL where jsonb does not take it. Raises NX110.';
