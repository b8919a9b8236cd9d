create or replace function core_private.drop_cron_job(p_task_id uuid, p_job_id bigint)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_job_id is not null and exists (select from pg_extension e where e.extname = 'pg_cron') then
        perform core_private.remove_cron_job(p_job_id, ':' || replace(p_task_id::text, '-', ''));
    end if;
    update core_private.cron_slots c set task_id = null where c.task_id = p_task_id;
    return null;
end $$;
comment on function core_private.drop_cron_job(uuid, bigint) is 'Removes the job of a task and frees its place; returns NULL, the new job_id.';
