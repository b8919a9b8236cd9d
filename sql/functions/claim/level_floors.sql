create or replace function core_private.level_floors(p_levels integer)
returns bigint[]
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
    select array_agg((l.level - 1) * 1000000000000000 order by l.level <> f.level, l.level)
      from (select case when random() < 0.1 then 2 + floor(random() * (p_levels - 1)) else 1 end as level offset 0) f
     cross join generate_series(1, p_levels::bigint) l(level)
$$;
comment on function core_private.level_floors(integer) is 'Where each level of a queue begins, in the order in which a claim without a memory looks: one in ten begins with a lower one, drawn by lot.';
