-- Who leaves an option out has no opinion about it. What counts is what is in force, however it came to be: by
-- create_namespace, by alter_namespace or by default. "1h" and "3600 s" are one duration, "on" and true one switch. A
-- retry policy is compared key by key, as it is altered.
create or replace function core_private.differing_namespace_options(
    p_namespace text, p_options jsonb, out said text, out named text, out change jsonb)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    with stored as (
        select jsonb_build_object(
                   'metadata', n.metadata, 'unhandled_after', n.unhandled_after::text,
                   'dedupe_for', n.dedupe_for::text, 'keep_broadcasts', n.keep_broadcasts::text,
                   'workflow_retention', n.workflow_retention::text,
                   'expire_unresolved', coalesce(n.expire_unresolved::text, 'off'),
                   'max_payload_bytes', n.max_payload_bytes,
                   'max_trigger_depth', coalesce(to_jsonb(n.max_trigger_depth), '"default"'),
                   'trigger_retry', coalesce(n.trigger_retry, '"default"'),
                   'dead_letter_retention', coalesce(n.dead_letter_retention::text, 'default'),
                   'abandoned_retention', coalesce(n.abandoned_retention::text, 'default'),
                   'default_consumer', n.default_consumer, 'restricted', n.restricted,
                   'retry', core_private.retry_defaults() || n.retry) as options
          from core.namespaces n
         where n.namespace = p_namespace
    ),
    given (path) as (
        select array[k] from jsonb_object_keys(p_options) k where k <> 'retry'
         union all
        select array['retry', k] from jsonb_object_keys(coalesce(p_options -> 'retry', '{}')) k
    ),
    compared as (
        select g.path, s.options #>> g.path as is_now, p_options #>> g.path as given,
               case when g.path <@ '{unhandled_after}' or g.path <@ '{dedupe_for,keep_broadcasts}'
                         or g.path <@ '{workflow_retention}'
                         or g.path in ('{retry,base}', '{retry,max}')
                    then (s.options #>> g.path)::interval is distinct from (p_options #>> g.path)::interval
                    when g.path <@ '{expire_unresolved}'
                    then nullif(s.options #>> g.path, 'off')::interval
                             is distinct from nullif(p_options #>> g.path, 'off')::interval
                    when g.path <@ '{dead_letter_retention,abandoned_retention}'
                    then nullif(s.options #>> g.path, 'default')::interval
                             is distinct from nullif(p_options #>> g.path, 'default')::interval
                    when g.path <@ '{default_consumer}'
                    then (s.options #>> g.path)::boolean is distinct from (p_options #>> g.path)::boolean
                    else s.options #> g.path is distinct from p_options #> g.path end as differs
          from stored s
         cross join given g
    )
    select string_agg(format('%s is %s, given %s', array_to_string(c.path, '.'), c.is_now, c.given),
                      '; ' order by c.path),
           string_agg(array_to_string(c.path, '.'), ', ' order by c.path),
           jsonb_object_agg(c.path[1], p_options -> c.path[1])
      from compared c
     where c.differs
$$;
comment on function core_private.differing_namespace_options(text, jsonb) is 'Which of the options given, checked ones, are not those of the namespace, in words and by name, and what core.alter_namespace is to be told to change that; NULL if all are.';
