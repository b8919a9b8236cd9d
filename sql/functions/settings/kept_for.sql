create or replace function core_private.kept_for(p_setting text)
returns table (keep interval, "only" text[], but text[])
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    with own as materialized (
        select n.namespace, case p_setting when 'dead_letter_retention' then n.dead_letter_retention
                                           when 'abandoned_retention' then n.abandoned_retention end as keep
          from core.namespaces n)
    select case p_setting when 'dead_letter_retention' then s.dead_letter_retention
                          when 'abandoned_retention' then s.abandoned_retention end,
           null::text[],
           array(select o.namespace from own o where o.keep is not null)
      from core_private.settings s
     union all
    select o.keep, array_agg(o.namespace), '{}'
      from own o
     where o.keep is not null
     group by o.keep
$$;
comment on function core_private.kept_for(text) is 'How long what a retention is for is kept: by namespaces that say so (only), and of all but these.';
