package operate

import (
	"context"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Duty is what a role may be let do in a restricted namespace.
type Duty string

// The duties.
const (
	Produce Duty = "produce" // emit and schedule
	Consume Duty = "consume" // run nodes
	Operate Duty = "operate" // the verbs of this package and the mending of dead letters; it includes Read
	Read    Duty = "read"
)

// GrantNamespace lets a role do one duty in a restricted namespace. The role needs the role of the duty (nexus_producer, …) as well. Done
// again it changes nothing. It takes nexus_admin.
func GrantNamespace(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, role string, duty Duty) error {
	return db.Do(ctx, q, "grant_namespace", "core.grant_namespace($1::text, $2::text, $3::text)", string(ns), role, string(duty))
}

// RevokeNamespace takes a grant of [GrantNamespace] back. What runs feels it with its next call. What was not granted is revoked without
// an error. It takes nexus_admin.
func RevokeNamespace(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, role string, duty Duty) error {
	return db.Do(ctx, q, "revoke_namespace", "core.revoke_namespace($1::text, $2::text, $3::text)", string(ns), role, string(duty))
}
