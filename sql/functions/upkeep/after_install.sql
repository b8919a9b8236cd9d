create or replace function core_private.after_install()
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.secure_rows();
    perform core_private.set_up_triggers();
    perform core_private.set_always();
    perform core_private.grant_queue(q.queue_name) from core.queues q;
    perform core_private.secure_relation('core_private.queue_model', '?');
    perform core_private.register_sweeps();
    perform core_private.refresh_timezones();
    perform core_private.set_job_defaults();
    return jsonb_build_object('partitions', core_private.set_up_partitions(), 'jobs', core.sync_cron_jobs());
end $$;
comment on function core_private.after_install() is 'Registers the sweeps, sets up triggers, partitions and the pg_cron jobs; safe to run again.';
