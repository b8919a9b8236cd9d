// Package svc is what a node and the services it runs (workflows, outbox processors, declared schedules) have in common.
// The node imports none of their packages and they do not import the node: both know the Runtime.
package svc

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
)

// Runtime is what a service is given by the node that runs it.
type Runtime struct {
	Namespace nexus.Namespace
	NodeID    string
	Own       *pgxpool.Pool // a few connections of the node itself: claims, settling, heartbeats; never held by user code
	Handlers  *pgxpool.Pool // the program's pool, for the transactions that user code runs in
	Logger    *slog.Logger

	// Handling is the context of user code. It carries the values of Run's context and ends, with the cause nexus.ErrDraining, when the node
	// has drained for its grace time: until then what runs may finish. Of Work it is the caller's.
	Handling context.Context
}
