create or replace function core.alter_scheduler(p_options jsonb)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_keep interval;
    v_max  integer;
    v_before jsonb;
begin
    if not pg_has_role(core_private.caller(), 'nexus_admin', 'member') then
        raise exception using errcode = 'NX401', column = 'p_options',
            message = format('role %I may not alter the scheduler', core_private.caller()),
            hint = format('grant nexus_admin to %I;', core_private.caller());
    end if;
    perform core_private.refuse_borrowed_session();
    perform core_private.check_option_keys(p_options, array['scheduler', 'max_cron_jobs', 'keep_slots']);
    if p_options ? 'scheduler'
       and (p_options ->> 'scheduler' = any (array['pg_cron', 'nodes', 'auto'])) is not true then
        perform core_private.fail_option('scheduler', p_options -> 'scheduler', 'Give pg_cron, nodes or auto.');
    end if;
    if p_options ? 'max_cron_jobs'
       and not coalesce(
               jsonb_path_exists(
                   p_options,
                   'strict $.max_cron_jobs ? (@.type() == "number" && @ >= 0 && @ <= 1000 && @.floor() == @)'),
               false) then
        perform core_private.fail_option(
            'max_cron_jobs', p_options -> 'max_cron_jobs', 'Give a whole number, 0 to 1000.');
    end if;
    if p_options ? 'keep_slots' then
        v_keep := core_private.parse_interval(p_options -> 'keep_slots', 'keep_slots', '1 hour', '10 years');
    end if;
    select to_jsonb(s) into v_before from core_private.scheduler s for no key update;
    update core_private.scheduler s
       set scheduler = coalesce(p_options ->> 'scheduler', s.scheduler),
           max_cron_jobs = coalesce((p_options ->> 'max_cron_jobs')::integer, s.max_cron_jobs),
           keep_slots = coalesce(v_keep, s.keep_slots)
    returning case s.scheduler when 'nodes' then 0 else s.max_cron_jobs end into v_max;

    perform core_private.audit_change('alter_scheduler', null, null, v_before, to_jsonb(s))
       from core_private.scheduler s;
    -- Jobs beyond the cap go; tasks without one take what is free.
    update core.scheduled_tasks t
       set job_id = core_private.drop_cron_job(t.task_id, t.job_id)
      from core_private.cron_slots c
     where c.task_id = t.task_id and c.n > v_max;
    delete from core_private.cron_slots c where c.n > v_max;
    insert into core_private.cron_slots (n) select g from generate_series(1, v_max) g on conflict do nothing;
    update core.scheduled_tasks t
       set job_id = core_private.give_cron_job(t.task_id, t.namespace, t.cron_expression, t.timezone)
     where t.task_id in (
               select x.task_id
                 from core.scheduled_tasks x
                where x.active and not exists (select from core_private.cron_slots c where c.task_id = x.task_id)
                order by x.created_at
                limit v_max);
end $$;
comment on function core.alter_scheduler(jsonb) is 'Changes who fires tasks (scheduler: pg_cron, nodes, auto), how many have jobs of their own in pg_cron (max_cron_jobs) and how long slots are remembered (keep_slots). Raises NX004, NX005, NX401.';
