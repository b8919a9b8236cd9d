-- What a kind needs beside a row here is a table of its details and four functions, which are found by its name:
-- core_private.check_KIND_source, put_KIND_source, KIND_source and why_not_KIND.
create or replace function core_private.trigger_kinds()
returns table (kind text, duties text[])
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    values
        ('event', '{consume,operate}'::text[]),
        ('kv', '{consume,operate}'),
        ('dead_letter', '{operate}'),
        ('cron', '{produce,operate}'),
        ('http', '{operate}')
$$;
comment on function core_private.trigger_kinds() is 'What sources triggers can have, and which duties their creators need, one of them, beside consume or operate, by which triggers are written at all.';
