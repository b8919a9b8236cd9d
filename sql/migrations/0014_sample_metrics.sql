create table core_private.metric_samples (
    namespace   text primary key references core.namespaces on delete cascade,
    sampled_at  timestamptz not null,
    sample      jsonb not null default '{}'
);
comment on table core_private.metric_samples is 'What core.metrics_sample() found last: one look serves all nodes of a namespace.';
comment on column core_private.metric_samples.sampled_at is '-infinity until the first look.';
