-- Without a policy nobody but the owner sees a row; core_private.secure_rows(), which needs functions, adds the policies.
alter table core.namespaces enable row level security;
alter table core.namespace_grants enable row level security;
alter table core.consumers enable row level security;
alter table core.queues enable row level security;
alter table core.nodes enable row level security;
alter table core.event_log enable row level security;
alter table core.event_keys enable row level security;
alter table core.delayed enable row level security;
alter table core.dead_letters enable row level security;
alter table core.delivery_errors enable row level security;
