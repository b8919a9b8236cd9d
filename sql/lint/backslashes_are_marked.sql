-- error: a backslash in a literal that does not begin with E means another thing where standard_conforming_strings is off.
-- remedy: write E'…' with two backslashes, or a class such as [.] or [[:space:]] in an expression.
-- holds: settings
select distinct p.oid::regprocedure::text
  from pg_proc p
 cross join lateral regexp_replace(p.prosrc, '--[^' || chr(10) || ']*', '', 'g') as body
 where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
   and regexp_replace(body, 'E''([^'']|'''')*''', '', 'g') like '%' || chr(92) || chr(92) || '%'
