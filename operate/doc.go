// Package operate has the verbs of who runs a Nexus: look at what is on a queue and at what became of an event, purge a queue, drain
// or forget a node, run a piece of the upkeep, and say who may use a restricted namespace.
//
// There is one Go function for each SQL function, with the same name. Where it runs is the caller's choice: on a pool it is atomic by
// itself, on a transaction it commits with the caller's other work, and a rollback makes a dry run of it. Rights are those of the
// connection's login; each function says which duty it takes. What people did is in core.audit_log, written in the same transaction.
//
// Single deliveries are cancelled, or made due, by package queue. Dead letters are mended by package deadletter.
package operate
