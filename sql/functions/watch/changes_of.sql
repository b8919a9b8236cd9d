-- Old and new rows are paired by the order in which they arrived, which is the same in both transition tables.
create or replace function core_private.changes_of(
    p_watch core.watched_tables, p_shown text[], p_keys text[], p_json text, p_op text)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_rows  text := case when p_watch.columns = '{}' then '%s "nexus.row"'
                         else format('(select %s from %%s) "nexus.row"',
                                     (select string_agg(quote_ident(u.c), ', ') from unnest(p_shown) u(c))) end;
    v_one   text := case p_op when 'delete' then 'o' else 'n' end;
    v_key   text := case when p_keys = '{}' then 'null::jsonb'
                         else format('case when %1$s.j is not null then jsonb_build_object(%2$s) end', v_one,
                                     (select string_agg(format('%1$L, %2$s.j -> %1$L', u.c, v_one), ', ')
                                        from unnest(p_keys) u(c))) end;
    v_left  text := format(
        'case when %s.j is null then %L::text[] end', v_one,
        (case when p_keys = '{}' then '{}' else '{key}' end::text[])
        || case p_op when 'insert' then '{new}' when 'delete' then '{old}' else '{old,new}' end::text[]);
begin
    if p_op = 'insert' then
        return format('select %s as key, null::jsonb as old, n.j as new, null::text[] as changed, %s as omitted
                         from (select %s as j from %s offset 0) n', v_key, v_left, p_json, format(v_rows, 'new_rows'));
    elsif p_op = 'delete' then
        return format('select %s as key, o.j as old, null::jsonb as new, null::text[] as changed, %s as omitted
                         from (select %s as j from %s offset 0) o', v_key, v_left, p_json, format(v_rows, 'old_rows'));
    end if;
    return format($q$
        select %s as key, o.j as old, n.j as new, array_remove(array[%s]::text[], null) as changed,
               case when n.j is null or o.j is null then %L::text[] end as omitted
          from (select row_number() over () as i, %s as j from %s offset 0) n
          join (select row_number() over () as i, %s as j from %s offset 0) o on o.i = n.i
         where %s$q$,
        v_key,
        (select string_agg(format('case when o.j -> %1$L <> n.j -> %1$L then %1$L end', u.c), ', ')
           from unnest(p_shown) u(c)),
        (case when p_keys = '{}' then '{}' else '{key}' end::text[]) || '{old,new}',
        p_json, format(v_rows, 'new_rows'), p_json, format(v_rows, 'old_rows'),
        case when p_watch.unchanged then 'true' else '(o.j = n.j) is not true' end);
end $$;
comment on function core_private.changes_of(core.watched_tables, text[], text[], text, text) is 'What selects the changes of a statement, as core_private.mutation_statement takes them, from its transition tables new_rows and old_rows. The others are what core_private.watch_columns says.';
