package queue

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// NamespaceOptions are the options of core.create_namespace and core.alter_namespace. Zero values mean "not given": the
// default when the namespace is created, the stored value when it is altered.
type NamespaceOptions struct {
	Metadata         json.RawMessage   // an object of the owner's choice
	Retry            nexus.RetryPolicy // for all consumers that say nothing else
	UnhandledAfter   time.Duration     // how long a type that nobody handles may wait before it is reported (1 h)
	MaxPayloadBytes  int64             // 8 MB
	DedupeFor        time.Duration     // how long dedupe keys are remembered (7 days)
	KeepBroadcasts   time.Duration     // how long broadcasts are kept for nodes that have not read them (1 day)
	ExpireUnresolved time.Duration     // age at which a dead letter that nobody resolves is resolved as expired; negative: none (the default)
	// What these leave out is as core.settings has it; negative ones go back to that.
	MaxTriggerDepth     int               // how deep in its chain an event may lie for triggers to fire
	TriggerRetry        nexus.RetryPolicy // retries of triggers that are created
	DeadLetterRetention time.Duration     // how long resolved dead letters are kept
	AbandonedRetention  time.Duration     // how long executions of requests that nobody waited for are kept

	DefaultConsumer Switch // On; Off for namespaces that use named consumers only
	Restricted      Switch // On: only roles that the namespace is granted to may use it (Off)
}

// Switch is an option that is on, off, or not given.
type Switch string

// The positions of a [Switch].
const (
	On  Switch = "on"
	Off Switch = "off"
)

// CreateNamespace registers a namespace and creates its queues. Done again it does nothing, unless queues have lost their tables. An
// option that is given then must be what is in force: else it fails with [nexus.ErrConflict], code [nexus.CodeNamespaceDiffers].
// opts may be nil.
//
// Who may not create namespaces may call it too, for one that is there: so a service can ask for its namespace whenever it starts. Where it
// is not, or is restricted and closed to the caller, it fails with [nexus.ErrForbidden], whose hint is what an administrator has to run.
func CreateNamespace(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, opts *NamespaceOptions) error {
	_, err := EnsureNamespace(ctx, q, ns, opts)
	return err
}

// EnsureNamespace is [CreateNamespace] and says whether that made anything: the namespace, or queues of it that had lost their tables.
func EnsureNamespace(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, opts *NamespaceOptions) (made bool, err error) {
	const op = "create_namespace"
	options, err := opts.encode(op)
	if err != nil {
		return false, err
	}
	err = db.Call(ctx, q, op, "select core.create_namespace($1::text, $2::text::jsonb)", []any{string(ns), options}, &made)
	return made, err
}

// AlterNamespace replaces the options that are given and leaves the others as they are, fields of Retry too.
func AlterNamespace(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, opts *NamespaceOptions) error {
	const op = "alter_namespace"
	options, err := opts.encode(op)
	if err != nil {
		return err
	}
	return db.Do(ctx, q, op, "core.alter_namespace($1::text, $2::text::jsonb)", string(ns), options)
}

// DropNamespace removes a namespace with its queues. confirm must repeat the name: [nexus.CodeNotConfirmed]. As long as
// it holds undelivered events, unread broadcasts or unresolved dead letters it fails with [nexus.CodeNamespaceNotEmpty], unless force says to lose
// them. What it emitted stays in the event log.
func DropNamespace(ctx context.Context, q nexus.DBTX, ns, confirm nexus.Namespace, force bool) error {
	return db.Do(ctx, q, "drop_namespace", "core.drop_namespace($1::text, $2::text, $3::boolean)",
		string(ns), string(confirm), force)
}

func (n *NamespaceOptions) encode(op string) (string, error) {
	o := db.NewOptions(op, "")
	if n != nil {
		o.JSON("metadata", n.Metadata)
		o.Retry("retry", n.Retry)
		o.Duration("unhandled_after", n.UnhandledAfter)
		o.Number("max_payload_bytes", n.MaxPayloadBytes)
		o.Duration("dedupe_for", n.DedupeFor)
		o.Duration("keep_broadcasts", n.KeepBroadcasts)
		if n.ExpireUnresolved < 0 {
			o.Text("expire_unresolved", "off")
		} else {
			o.Duration("expire_unresolved", n.ExpireUnresolved)
		}
		if n.MaxTriggerDepth < 0 {
			o.Text("max_trigger_depth", "default")
		} else {
			o.Number("max_trigger_depth", int64(n.MaxTriggerDepth))
		}
		o.Retry("trigger_retry", n.TriggerRetry)
		for name, keep := range map[string]time.Duration{"dead_letter_retention": n.DeadLetterRetention, "abandoned_retention": n.AbandonedRetention} {
			if keep < 0 {
				o.Text(name, "default")
			} else {
				o.Duration(name, keep)
			}
		}
		o.Text("default_consumer", string(n.DefaultConsumer))
		o.Switch("restricted", string(n.Restricted))
	}
	return o.Encode()
}
