-- Plants, into schema trap, something of every name that the code of Nexus could look up: its own functions and relations, those of the
-- extensions, and of pg_catalog the operators, the types with casts, and each function that some body names. Whatever is planted warns
-- with "planted:" and who it ran as, which a rollback does not take back. What cannot be planted is left out: a loop tries it.
create schema trap;

do $plant$
declare
  v_of       record;
  v_name     text;
  v_planted  integer := 0;
  v_warn     constant text := $f$create %s function trap.%I(%s) returns %s language plpgsql as $g$
    begin raise warning 'planted: %s, as %%', current_user; return%s; end $g$$f$;
  v_words    text[];
begin
  -- Words of all bodies and views.
  select array_agg(distinct w[1]) into v_words
    from (select p.prosrc as body from pg_catalog.pg_proc p
           where p.pronamespace in (select n.oid from pg_catalog.pg_namespace n where n.nspname in ('core', 'core_node', 'core_private', 'pgmq', 'partman'))
           union all
          select v.definition from pg_catalog.pg_views v where v.schemaname in ('core', 'core_node', 'core_private')) b,
         regexp_matches(b.body, '\m[a-z_][a-z0-9_]*\M', 'g') w;

  for v_of in
    select p.oid, p.proname, n.nspname, pg_get_function_arguments(p.oid) as args, pg_get_function_result(p.oid) as result, p.proretset as rows,
           p.provariadic = '"any"'::regtype or '"any"'::regtype = any (p.proargtypes) as takes_any
      from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
     where p.prokind in ('f', 'a', 'w')
       and (n.nspname in ('core', 'core_node', 'core_private', 'pgmq', 'partman') or n.nspname = 'pg_catalog' and p.proname = any (v_words))
  loop
    foreach v_name in array case when v_of.takes_any
        -- An exact match goes before a call with VARIADIC "any".
        then array['anyelement', 'text, text', 'text, jsonb', 'text, bigint', 'text, integer', 'text, bigint, text, bigint', 'anyarray', 'text, anyarray', 'text, variadic anyarray']
        else array[v_of.args] end
    loop
      begin
        execute format(v_warn, 'or replace', v_of.proname, v_name, v_of.result, v_of.nspname || '.' || v_of.proname,
                       case when v_of.rows or v_of.result = 'void' or v_of.args ~ '\m(OUT|INOUT)\M' then '' else ' null' end);
        v_planted := v_planted + 1;
      exception when others then null;
      end;
    end loop;
  end loop;

  -- Operators, each with a function of its own.
  for v_of in
    select o.oid, o.oprname, o.oprleft::regtype as l, o.oprright::regtype as r, o.oprresult::regtype as result
      from pg_catalog.pg_operator o where o.oprnamespace = 'pg_catalog'::regnamespace and o.oprright <> 0
  loop
    begin
      v_name := 'op_' || v_of.oid;
      execute format(v_warn, '', v_name, concat_ws(', ', nullif(v_of.l::text, '-'), v_of.r), v_of.result,
                     replace(format('operator %s (%s, %s)', v_of.oprname, v_of.l, v_of.r), '%', '%%'), ' null');
      execute format('create operator trap.%s (function = trap.%I, %s rightarg = %s)', v_of.oprname, v_name,
                     case when v_of.l <> 0 then format('leftarg = %s,', v_of.l) end, v_of.r);
      v_planted := v_planted + 1;
    exception when others then null;
    end;
  end loop;

  -- Types, with casts from and to those whose names they bear.
  for v_of in
    select t.typname from pg_catalog.pg_type t
     where t.typnamespace = 'pg_catalog'::regnamespace and t.typtype = 'b' and t.typelem = 0
  loop
    begin
      execute format('create type trap.%I as (planted integer)', v_of.typname);
      execute format(v_warn, '', 'cast_to_' || v_of.typname, 'trap.' || quote_ident(v_of.typname), 'pg_catalog.' || quote_ident(v_of.typname), 'cast to ' || v_of.typname, ' null');
      execute format(v_warn, '', 'cast_from_' || v_of.typname, 'pg_catalog.' || quote_ident(v_of.typname), 'trap.' || quote_ident(v_of.typname), 'cast from ' || v_of.typname, ' null');
      execute format('create cast (trap.%1$I as pg_catalog.%1$I) with function trap.%2$I as implicit', v_of.typname, 'cast_to_' || v_of.typname);
      execute format('create cast (pg_catalog.%1$I as trap.%1$I) with function trap.%2$I as implicit', v_of.typname, 'cast_from_' || v_of.typname);
      v_planted := v_planted + 1;
    exception when others then null;
    end;
  end loop;

  -- One of each kind is sure to be among them.
  if v_planted < 1000 or to_regprocedure('trap.pg_has_role(name, name, text)') is null or to_regoperator('trap.||(jsonb, jsonb)') is null
     or to_regprocedure('trap.jsonb_build_object(text, jsonb)') is null or to_regprocedure('trap.require_duty(text, text, text)') is null or to_regtype('trap.jsonb') is null then
    raise exception 'only % planted', v_planted;
  end if;
end $plant$;

create function trap.touched(p_relation text) returns boolean language plpgsql as
$$ begin raise warning 'planted: relation %, as %', p_relation, current_user; return false; end $$;

-- Views of the names and columns of relations; one for the session's own schema too, which every pinned path ends with.
create function trap.plant_relations(p_schema text) returns integer language plpgsql as $$
declare
  v_of      record;
  v_planted integer := 0;
begin
  for v_of in
    select distinct on (c.relname) c.relname, (select string_agg(format('null::%s as %I', format_type(a.atttypid, a.atttypmod), a.attname), ', ' order by a.attnum)
                          from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('core', 'core_node', 'core_private', 'pgmq', 'partman', 'cron', 'pg_catalog') and c.relkind in ('r', 'p', 'v')
       and not (p_schema = 'trap' and to_regtype(format('trap.%I', c.relname)) is not null)
  loop
    begin
      execute format('create %s view %s%I as select %s where trap.touched(%L)', case when p_schema = 'pg_temp' then 'temporary' end,
                     case when p_schema <> 'pg_temp' then p_schema || '.' end, v_of.relname, v_of.columns, v_of.relname);
      v_planted := v_planted + 1;
    exception when others then null;
    end;
  end loop;
  return v_planted;
end $$;
select trap.plant_relations('trap');
grant usage on schema trap to public;
grant execute on all functions in schema trap to public;
grant select on all tables in schema trap to public;
