-- What depends on the table as it is now: it may have been altered since it was watched.
create or replace function core_private.watch_columns(
    p_watch core.watched_tables, out shown text[], out key text[], out doubtful boolean, out as_json text)
returns record
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_key   smallint[];
    v_sizes text;
begin
    select i.indkey::smallint[] into v_key
      from pg_index i
     where i.indrelid = p_watch.relation and (i.indisprimary or i.indisreplident) and i.indisvalid
     order by i.indisprimary desc limit 1;
    v_key := array(select u.n from unnest(coalesce(v_key, p_watch.key)) u(n));
    select array_agg(a.attname::text order by a.attnum)
               filter (where p_watch.columns = '{}' or a.attnum = any (p_watch.columns || v_key)),
           coalesce(array_agg(a.attname::text order by a.attnum) filter (where a.attnum = any (v_key)), '{}'),
           bool_or(not core_private.is_plain_type(a.atttypid, a.atttypmod)),
           string_agg(format('coalesce(pg_column_size("nexus.row".%I), 0)', a.attname), ' + ' order by a.attnum)
               filter (where a.attlen = -1 and a.atttypid <> 'numeric'::regtype and a.atttypmod < 0
                         and (p_watch.columns = '{}' or a.attnum = any (p_watch.columns || v_key)))
      into shown, key, doubtful, v_sizes
      from pg_attribute a
     where a.attrelid = p_watch.relation and a.attnum > 0 and not a.attisdropped;
    shown := coalesce(shown, '{}');
    doubtful := coalesce(doubtful, false);
    as_json := case
        when core_private.is_blind(p_watch.relation) then 'null::jsonb'
        when doubtful then 'core_private.row_or_null("nexus.row".*)'
        when v_sizes is null then 'to_jsonb("nexus.row".*)'
        else format('case when %s < 500000 then to_jsonb("nexus.row".*)'
                    ' else core_private.row_or_null("nexus.row".*) end', v_sizes) end;
end $$;
comment on function core_private.watch_columns(core.watched_tables) is 'Which columns are shown, which are the key, whether a value may be one that jsonb or a payload does not take, and how a row, called nexus.row, becomes jsonb: not at all where to_jsonb would run a function of somebody''s.';
