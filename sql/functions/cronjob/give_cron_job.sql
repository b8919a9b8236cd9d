-- The rows of cron_slots are the cap: who finds none free goes without a job of its own and misses nothing.
create or replace function core_private.give_cron_job(
    p_task_id uuid, p_namespace text, p_expression text, p_timezone text)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_n   integer;
    v_job bigint;
begin
    if not exists (select from pg_extension e where e.extname = 'pg_cron') then
        return null;
    end if;
    select c.n into v_n from core_private.cron_slots c where c.task_id = p_task_id for update;
    if v_n is null then
        select c.n
          into v_n
          from core_private.cron_slots c
         where c.task_id is null order by c.n limit 1
           for update skip locked;
    end if;
    if v_n is null then
        return null;
    end if;
    v_job := core_private.put_cron_job(
        p_namespace || ':' || replace(p_task_id::text, '-', ''),
        core_private.cron_superset(p_expression, p_timezone),
        format('SELECT core.run_scheduled_task(%L)', p_task_id));
    if v_job is not null then
        update core_private.cron_slots c
           set task_id = p_task_id
         where c.n = v_n and c.task_id is distinct from p_task_id;
    end if;
    return v_job;
end $$;
comment on function core_private.give_cron_job(uuid, text, text, text) is 'Makes or alters the job of a task, if one of the jobs allowed is free; returns its id.';
