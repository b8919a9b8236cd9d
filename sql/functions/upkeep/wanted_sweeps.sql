create or replace function core_private.wanted_sweeps()
returns table (name text, function text, every interval, driven_by text, "position" integer)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    values
        ('promote', 'core_node.promote_delayed(10000)', interval '10 seconds', 'tick', 10),
        ('fire', 'core.fire_due_events(10000)', '10 seconds', 'tick', 15),
        ('tasks', 'core_private.fire_tasks(20000)', '1 second', 'tick', 16),
        ('reap', 'core_node.reap_nodes()', '10 seconds', 'tick', 20),
        ('express', 'core_private.sweep_express()', '10 seconds', 'tick', 25),
        ('expire_keys', 'core_private.expire_keys()', '1 minute', 'tick', 30),
        ('broadcasts', 'core_private.expire_broadcasts()', '1 minute', 'tick', 31),
        ('tombstones', 'core_private.remove_tombstones()', '1 minute', 'tick', 35),
        ('expire_slots', 'core_private.expire_slots()', '1 hour', 'tick', 36),
        ('cron', 'core.sync_cron_jobs()', '1 minute', 'tick', 37),
        ('job_defaults', 'core_private.set_job_defaults()', '1 hour', 'tick', 38),
        ('backfills', 'core_private.run_backfills()', '1 second', 'tick', 38),
        ('left_queues', 'core_private.drop_left_queues()', '10 seconds', 'tick', 39),
        ('retention', 'core_private.apply_retention()', '1 day', 'job', 50),
        ('grants', 'core_private.forget_grants()', '1 day', 'tick', 35),
        ('job_run_details', 'core_private.trim_job_run_details()', '1 day', 'job', 60),
        ('timezones', 'core_private.refresh_slots()', '1 day', 'job', 70),
        ('workflows', 'core_private.maintain_workflows()', '10 seconds', 'tick', 40),
        ('set_aside', 'core_private.set_aside()', '10 seconds', 'tick', 900),
        ('watches', 'core_private.sweep_watches()', '1 minute', 'tick', 905),
        ('kv', 'core_private.expire_kv()', '10 seconds', 'tick', 910),
        ('requests', 'core_private.expire_requests()', '10 seconds', 'tick', 920),
        -- Late: until it commits, a node that registers waits for it.
        ('park', 'core_private.park_unhandled()', '10 seconds', 'tick', 1000),
        -- Last in a tick, since where it drops a partition all who enqueue to lanes wait until the tick commits.
        ('lanes', 'core_private.maintain_lanes()', '10 seconds', 'tick', 1100),
        -- After all others: where it drops a month, the log stays locked until the tick commits.
        ('partitions', 'core_private.run_partition_maintenance()', '1 hour', 'job', 2000)
$$;
comment on function core_private.wanted_sweeps() is 'What core.tick() has to run, as the installer registers it.';
