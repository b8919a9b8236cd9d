-- As differing_namespace_options: what is left out is no opinion, and what counts is what is in force.
create or replace function core_private.differing_consumer_options(
    p_namespace text, p_consumer text, p_patterns text[], p_options jsonb, out said text, out named text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    with stored as (
        select jsonb_build_object(
                   'patterns', array(select distinct p collate "C" from unnest(c.patterns) p order by 1),
                   'kind', c.kind, 'lanes', c.lanes, 'exhausted', c.exhausted, 'from', c.starts_from,
                   'max_in_flight', c.max_in_flight, 'rate', c.rate, 'levels', c.levels,
                   'unhandled_after', coalesce(c.unhandled_after, n.unhandled_after)::text,
                   'retry', core_private.retry_defaults() || n.retry || c.retry) as options
          from core.consumers c
          join core.namespaces n on n.namespace = c.namespace
         where c.namespace = p_namespace and c.name = p_consumer
    ),
    wanted as (
        select p_options || jsonb_build_object('patterns', p_patterns)
               || case when p_options ? 'rate'
                       then jsonb_build_object('rate', core_private.parse_rate(p_options -> 'rate')) else '{}' end
               || case when p_options ->> 'from' in ('now', 'beginning') then '{}'
                       when p_options ? 'from'
                       then jsonb_build_object('from', core_private.iso((p_options ->> 'from')::timestamptz))
                       else '{}' end as options
    ),
    given (path) as (
        select array[k] from wanted w cross join jsonb_object_keys(w.options) k where k <> 'retry'
         union all
        select array['retry', k] from jsonb_object_keys(coalesce(p_options -> 'retry', '{}')) k
    ),
    compared as (
        select g.path, coalesce(s.options #>> g.path, 'not set') as is_now, w.options #>> g.path as given,
               case when g.path <@ '{unhandled_after}' or g.path in ('{retry,base}', '{retry,max}')
                    then (s.options #>> g.path)::interval is distinct from (w.options #>> g.path)::interval
                    else s.options #> g.path is distinct from w.options #> g.path end as differs
          from stored s
         cross join wanted w
         cross join given g
    )
    select string_agg(format('%s is %s, given %s', array_to_string(c.path, '.'), c.is_now, c.given),
                      '; ' order by c.path),
           string_agg(array_to_string(c.path, '.'), ', ' order by c.path)
      from compared c
     where c.differs
$$;
comment on function core_private.differing_consumer_options(text, text, text[], jsonb) is 'Which of the patterns and options given, checked ones, are not those of the consumer, in words and by name; NULL if all are.';
