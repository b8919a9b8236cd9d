create or replace view core.workflow_definitions with (security_barrier = true) as
select d.namespace, d.name as workflow, d.version, d.def_id, d.hash, d.steps, d.concurrency, s.nodes, s.runs,
       s.runs_is_more, s.newest, d.created_at, d.last_registered_at
  from core_private.workflow_definitions d
 cross join lateral core_private.definition_state(d.def_id) s
 where d.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.workflow_definitions is 'What workflows look like, one row for each form that nodes registered.';
comment on column core.workflow_definitions.namespace is 'Its namespace.';
comment on column core.workflow_definitions.workflow is 'The workflow.';
comment on column core.workflow_definitions.version is 'What its authors call it.';
comment on column core.workflow_definitions.def_id is 'Its number in this database.';
comment on column core.workflow_definitions.hash is 'Of its name and all its steps.';
comment on column core.workflow_definitions.steps is 'The tree of its steps.';
comment on column core.workflow_definitions.concurrency is 'How many of its runs nodes may have in hand at once; NULL: any number.';
comment on column core.workflow_definitions.nodes is 'The live nodes that have it.';
comment on column core.workflow_definitions.runs is 'Runs of it that have not ended, counted to 10,000.';
comment on column core.workflow_definitions.runs_is_more is 'Whether there are more than 10,000.';
comment on column core.workflow_definitions.newest is 'Whether new runs take it.';
comment on column core.workflow_definitions.created_at is 'When it was first registered.';
comment on column core.workflow_definitions.last_registered_at is 'When it was last registered.';
