package readmodel

import "time"

// RunFilter picks runs of workflows. Zero fields match all.
type RunFilter struct {
	Namespace, Workflow, Status, Tag string
	Since                            time.Time // started then or later
}

// Runs lists runs of workflows, the newest first.
func Runs(f RunFilter) List {
	l := List{
		What: "list workflow runs",
		SQL: `select run_id, namespace, workflow, version, status, created_at, finished_at, error operator(pg_catalog.->>) 'step' as step,
		     error operator(pg_catalog.->>) 'reason' as reason
		   from core.workflow_runs where true`,
		Names: []string{"run_id", "namespace", "workflow", "version", "status", "created_at", "finished_at", "step", "reason"},
		Keys:  []Key{{"created_at", "timestamptz"}, {"run_id", "uuid"}},
		Desc:  true,
	}
	if f.Namespace != "" {
		l.Where("namespace = $%d::text", f.Namespace)
	}
	if f.Workflow != "" {
		l.Where("workflow = $%d::text", f.Workflow)
	}
	if f.Status != "" {
		l.Where("status = $%d::text", f.Status)
	}
	if f.Tag != "" {
		l.Where("tags operator(pg_catalog.@>) array[$%d::text]", f.Tag)
	}
	if !f.Since.IsZero() {
		l.Where("created_at >= $%d::timestamptz", f.Since)
	}
	return l
}

// Run selects a run whole, by its id.
const Run = `select * from core.workflow_runs where run_id = $1::uuid`

// RunWaits selects what a run waits for.
const RunWaits = `select path, waits_for, key, signal, due_at, attempt, deaths, branches, node_id, why from core.workflow_waits where run_id = $1::uuid order by path`

// RunTree selects a run and its children as a tree, in the order of execution, indented.
const RunTree = `select pg_catalog.repeat('  ', depth) operator(pg_catalog.||) coalesce(key, workflow) as step, kind, status, attempts, completed_at,
	result, error from core.workflow_tree($1::uuid)`

// WorkflowDefinitions lists what workflows look like.
func WorkflowDefinitions(namespace string) List {
	return List{
		What: "list workflows",
		SQL: `select namespace, workflow, version, def_id, newest, nodes, runs, concurrency, last_registered_at
		   from core.workflow_definitions where $1::text = '' or namespace = $1::text`,
		Args:  []any{namespace},
		Names: []string{"namespace", "workflow", "version", "def_id", "newest", "nodes", "runs", "concurrency", "last_registered_at"},
		Keys:  []Key{{"namespace", "text"}, {"workflow", "text"}, {"def_id", "bigint"}},
	}
}
