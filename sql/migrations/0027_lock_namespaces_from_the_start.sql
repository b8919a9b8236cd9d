-- The row came with the first node that registered; whoever did so in a transaction that stayed open kept all others waiting for it.
insert into core_private.locks (name) select 'namespace ' || n.namespace from core.namespaces n on conflict do nothing;
comment on column core_private.locks.name is 'tick, namespaces, cron, timezones, or "namespace " and its name, which comes and goes with the namespace.';
