create or replace function core_private.check_task_settings(p_task core.scheduled_tasks)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    r record;
begin
    select * into r from (values
        ('name',
            coalesce(p_task.name ~ '^[^[:cntrl:]]+$' and octet_length(p_task.name) <= 200, false),
            quote_literal(left(p_task.name, 100)),
            'Use up to 200 bytes without control characters.'),
        ('active',
            p_task.active is not null,
            null,
            'Give true or false.'),
        ('misfire',
            coalesce(p_task.misfire in ('skip', 'fire_once', 'backfill'), false),
            quote_literal(left(p_task.misfire, 100)),
            'Give skip, fire_once or backfill.'),
        ('misfire_after',
            coalesce(p_task.misfire_after between '0' and '1 year', false),
            p_task.misfire_after::text,
            'Give an interval of up to a year.'),
        ('backfill',
            coalesce(p_task.backfill between case when p_task.misfire = 'backfill' then 1 else 0 end and 100, false),
            p_task.backfill::text,
            'Give how many missed slots are caught up, 1 to 100; 0 where misfire is not backfill.'),
        ('backfill',
            p_task.backfill = 0 or p_task.misfire = 'backfill',
            p_task.backfill::text,
            'Set misfire to backfill, or leave it out.'),
        ('overlap',
            coalesce(p_task.overlap in ('allow', 'skip', 'queue_one'), false),
            quote_literal(left(p_task.overlap, 100)),
            'Give allow, skip or queue_one.'),
        ('jitter',
            coalesce(p_task.jitter between '0' and '1 day', false),
            p_task.jitter::text,
            'Give an interval of up to a day.'),
        ('starts_at',
            coalesce(p_task.starts_at between '1970-01-01 00:00Z' and '9000-01-01 00:00Z', true),
            p_task.starts_at::text,
            'Give a time from 1970 to 9000, or leave it out to begin at once.'),
        ('ends_at',
            coalesce(not isfinite(p_task.ends_at) or p_task.ends_at <= '9000-01-01 00:00Z', true),
            p_task.ends_at::text,
            'Give a time up to 9000, or leave it out to go on for good.'),
        ('ends_at',
            coalesce(p_task.ends_at >= p_task.starts_at, true),
            p_task.ends_at::text,
            format('Give a time that is not before starts_at, %s.', p_task.starts_at)),
        ('owner',
            coalesce(p_task.owner <> '' and octet_length(p_task.owner) <= 200, true),
            quote_literal(left(p_task.owner, 100)),
            'Name the deployment in up to 200 bytes, or leave it out.')
        ) c(field, fine, value, hint)
     where not c.fine
     limit 1;
    if found then
        raise exception using errcode = 'NX013', column = r.field,
            message = format('%s of a task cannot be %s', r.field, coalesce(r.value, 'NULL')),
            hint = r.hint;
    end if;
end $$;
comment on function core_private.check_task_settings(core.scheduled_tasks) is 'Raises NX013 for a setting that a task cannot have.';
