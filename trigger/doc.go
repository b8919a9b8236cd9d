// Package trigger has events delivered to handlers that rules name: a [Trigger] matches events by type and payload, and each match is a delivery
// of its own for its target, made in the transaction that emits the event. A target is a handler's key: "go:mail" is one that nodes have
// ([node.Node.Triggers]), "sql:mail" a function, "webhook:crm" a URL, "workflow:order" a workflow.
//
// Its functions are core.create_trigger, enable_trigger, disable_trigger, delete_trigger, hand_over_triggers, test_triggers, create_handler and drop_handler. They take the duty to
// consume or to operate; a webhook, and what belongs to others, that to operate.
//
// [node.Node.Triggers]: https://pkg.go.dev/github.com/nexuspg/nexus/node#Node.Triggers
package trigger
