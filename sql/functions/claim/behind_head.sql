create or replace function core_private.behind_head(p_relation text, p_floor bigint, p_below bigint = null)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_next bigint;
begin
    execute format($q$
        select q.msg_id
          from %s q
         where q.msg_id >= $1%s
         order by q.msg_id offset 20000 limit 1
        $q$, p_relation, coalesce(' and q.msg_id < ' || p_below, ''))
       into v_next
      using p_floor;
    return v_next;
end $$;
comment on function core_private.behind_head(text, bigint, bigint) is 'The first message behind the 20,000 from id p_floor on which a claim without a floor looks at, NULL where these are all.';
