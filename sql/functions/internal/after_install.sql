create or replace function core_private.after_install()
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.secure_rows();
    perform core_private.set_up_triggers();
    perform core_private.grant_queue(q.queue_name) from core.queues q;
    perform core_private.secure_relation('core_private.queue_model', '?');
    perform core_private.register_sweep('promote', 'core.promote_delayed(10000)', '10 seconds', 'tick', 10);
    perform core_private.register_sweep('fire', 'core.fire_due_events(10000)', '10 seconds', 'tick', 15);
    perform core_private.register_sweep('tasks', 'core_private.fire_tasks(20000)', '1 second', 'tick', 16);
    perform core_private.register_sweep('reap', 'core.reap_nodes()', '10 seconds', 'tick', 20);
    perform core_private.register_sweep('express', 'core_private.sweep_express()', '10 seconds', 'tick', 25);
    perform core_private.register_sweep('expire_keys', 'core_private.expire_keys()', '1 minute', 'tick', 30);
    perform core_private.register_sweep('tombstones', 'core_private.remove_tombstones()', '1 minute', 'tick', 35);
    perform core_private.register_sweep('expire_slots', 'core_private.expire_slots()', '1 hour', 'tick', 36);
    perform core_private.register_sweep('cron', 'core.sync_cron_jobs()', '1 minute', 'tick', 37);
    perform core_private.register_sweep('job_defaults', 'core_private.set_job_defaults()', '1 hour', 'tick', 38);
    perform core_private.register_sweep('retention', 'core_private.apply_retention()', '1 day', 'job', 50);
    perform core_private.register_sweep('grants', 'core_private.forget_grants()', '1 day', 'tick', 35);
    perform core_private.register_sweep('job_run_details', 'core_private.trim_job_run_details()', '1 day', 'job', 60);
    perform core_private.register_sweep('timezones', 'core_private.refresh_slots()', '1 day', 'job', 70);
    perform core_private.refresh_timezones();
    perform core_private.register_sweep('set_aside', 'core_private.set_aside()', '10 seconds', 'tick', 900);
    -- Last in a tick: until it commits, a node that registers waits for it.
    perform core_private.register_sweep('park', 'core_private.park_unhandled()', '10 seconds', 'tick', 1000);
    -- After all others: where it drops a month, the log stays locked until the tick commits.
    perform core_private.register_sweep('partitions', 'core_private.run_partition_maintenance()', '1 hour', 'job', 2000);
    perform core_private.set_job_defaults();
    return jsonb_build_object('partitions', core_private.set_up_partitions(), 'jobs', core.sync_cron_jobs());
end $$;
comment on function core_private.after_install() is 'Registers the sweeps, sets up triggers, partitions and the pg_cron jobs; safe to run again.';
